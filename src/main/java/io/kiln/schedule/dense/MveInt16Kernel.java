// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtemve_int16Generated;
import io.kiln.kernels.convolution.Jtemve_int16_windowGenerated;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.MveSteps;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Expr.IntImm;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Optional;

/**
 * The kernels {@code convolution/mve_int16} and {@code mve_int16_window}: dot products of one or two runs of int16 with the int8 weights of four channels on MVE,
 * eight taps at a time.
 *
 * @param isPipelined whether steps of two pixels are, see {@link MveSteps}
 * @param isWhole whether a call computes all runs of a window
 * @param unroll steps in a loop: all of them if there are no more than this
 */
record MveInt16Kernel(boolean isPipelined, boolean isWhole, int unroll) implements DotKernel {
    /** What the rules choose for speed. */
    static final MveInt16Kernel FAST = new MveInt16Kernel(false, false, 12);

    /** The same in little code. */
    static final MveInt16Kernel SMALL = new MveInt16Kernel(false, false, 2);

    private static final String PIPELINED = "pipelined";
    private static final String WHOLE = "whole_windows";

    private static final int CHANNELS = 4;

    /** Most bytes that an instruction adds to a pointer. */
    private static final int MOST_ADDED = 4095;

    private static final int STEP = 8;

    private static final MveSteps.Instructions SET =
            MveSteps.Instructions.adding("vldrh.16", "vldrb.s16", STEP, "vmladava.s16");

    /** Whether the weights fit 8 bits without their zero point. */
    static boolean suits(ConvComputation conv) {
        return conv.kernelZeroPoint() == 0;
    }

    @Override
    public String title() {
        return "mve_conv16";
    }

    @Override
    public String reason() {
        return "8 products to an instruction (MVE); what is summed in 32 bits is proven to fit";
    }

    @Override
    public int pixels() {
        return 2;
    }

    @Override
    public int channels() {
        return CHANNELS;
    }

    @Override
    public int step() {
        return STEP;
    }

    @Override
    public DType table() {
        return INT8;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        call(block, inputs, weights, sums, new Runs(1, Math.toIntExact(((IntImm) taps).value()), 0, 0));
    }

    @Override
    public boolean takesWindows() {
        return isWhole;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Runs runs) {
        DotKernel.call(block, kernel(inputs.size(), runs), inputs, weights, sums);
    }

    @Override
    public List<Knob> knobs() {
        return List.of(Knob.flag(PIPELINED, false, true), Knob.flag(WHOLE, false, true));
    }

    @Override
    public DotKernel with(Configuration configuration) {
        return new MveInt16Kernel(configuration.isOn(PIPELINED), configuration.isOn(WHOLE), unroll);
    }

    private MveSteps steps(int pixels) {
        return new MveSteps(SET, pixels, CHANNELS, unroll, isPipelined && MveSteps.canPipeline(pixels, CHANNELS));
    }

    private Kernel kernel(int pixels, Runs runs) {
        String name = "kiln_mve_dot16_" + runs.taps() + "_" + pixels + "x" + CHANNELS
                + (runs.count() > 1 ? "_runs" + runs.count() + "_apart" + runs.distance() : "")
                + (steps(pixels).isPipelined() ? "_pipelined" : "")
                + (unroll == SMALL.unroll ? "_small" : "");
        return kernel(
                name,
                INT16,
                pixels,
                0,
                (out, html) -> Jtemve_int16Generated.render(
                        out, html, name, steps(pixels), runs.count(), runs.taps(), runs.distance()));
    }

    @Override
    public Optional<Kernel> ending(int pixels, Runs runs, int outputs) {
        if (Short.BYTES * Math.max(runs.step(), outputs) > MOST_ADDED) {
            return Optional.empty();
        }
        String name = "kiln_mve_window16_" + runs.taps() + "_" + pixels + "x" + CHANNELS + "_runs" + runs.count()
                + "_apart" + runs.distance()
                + (pixels == 2 ? "_step" + runs.step() + "_of" + outputs : "")
                + (steps(pixels).isPipelined() ? "_pipelined" : "");
        String definition = KernelSheet.text(
                (out, html) -> Jtemve_int16_windowGenerated.render(out, html, name, steps(pixels), runs, outputs));
        List<Kernel.Pointer> pointers = Kernel.Pointer.lastWritten(INT16, INT8, INT32, INT32, INT16);
        return Optional.of(Kernel.of(name, pointers, 0, definition));
    }
}
