// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.FLOAT32;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtemve_floatGenerated;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The kernel {@code convolution/mve_float}: dot products of runs of float values with vectors of weights of four channels on MVE.
 *
 * @param pixels computed together, at most 3
 * @param vectors of four channels; times pixels at most 6
 * @param windows how {@link MveFloatWindows.MveFloatWindow} orders taps, if it computes the windows that it can
 */
record MveFloatKernel(int pixels, int vectors, Optional<MveFloatWindows.MveFloatWindow.Loop> windows)
        implements DotKernel {
    private static final String WHOLE = "whole_windows";
    private static final String UNROLL = "unroll";
    private static final String MANY = "multiple_loads";

    /** Taps of a turn unless {@link #UNROLL} says more. */
    private static final int USUAL_UNROLL = 2;

    /** Without {@link MveFloatWindows.MveFloatWindow}. */
    MveFloatKernel(int pixels, int vectors) {
        this(pixels, vectors, Optional.empty());
    }

    /** The kernel for a layer: of single pixels, more channels. */
    static MveFloatKernel of(ConvComputation conv) {
        boolean isSingle = conv.output().dim(2) == 1;
        int most = (conv.channels() + 3) / 4;
        return isSingle ? new MveFloatKernel(1, Math.min(most, 4)) : new MveFloatKernel(3, Math.min(most, 2));
    }

    @Override
    public String title() {
        return "mve_conv_float";
    }

    @Override
    public String reason() {
        return "an input times the weights of four channels in one instruction (MVE)";
    }

    @Override
    public int channels() {
        return 4 * vectors;
    }

    @Override
    public List<Knob> knobs() {
        return List.of(Knob.flag(WHOLE, false, true), Knob.unusual(UNROLL, 4, 8, 16, 32), Knob.flag(MANY, false, true));
    }

    /** Loops of a call are unrolled if it computes a whole window; eight values are loaded at once if a turn has them. */
    @Override
    public boolean isKernel(Configuration configuration) {
        int unroll = configuration.number(UNROLL, USUAL_UNROLL);
        return (configuration.isOn(WHOLE) || unroll == USUAL_UNROLL) && (!configuration.isOn(MANY) || unroll >= 8);
    }

    @Override
    public DotKernel with(Configuration configuration) {
        MveFloatWindows.MveFloatWindow.Loop loop = new MveFloatWindows.MveFloatWindow.Loop(
                configuration.number(UNROLL, USUAL_UNROLL), configuration.isOn(MANY));
        return new MveFloatKernel(pixels, vectors, configuration.isOn(WHOLE) ? Optional.of(loop) : Optional.empty());
    }

    @Override
    public DType sum() {
        return FLOAT32;
    }

    @Override
    public DType table() {
        return FLOAT32;
    }

    @Override
    public void put(ByteBuffer table, double weight) {
        table.putFloat((float) weight);
    }

    @Override
    public int weightBytes() {
        return Float.BYTES;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        DotKernel.call(block, kernel(inputs.size()), inputs, weights, sums, taps);
    }

    private Kernel kernel(int count) {
        String name = "kiln_mve_dotf_" + count + "x" + channels();
        return kernel(
                name, FLOAT32, count, 1, (out, html) -> Jtemve_floatGenerated.render(out, html, name, count, vectors));
    }
}
