// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;

import io.kiln.kernels.convolution.Jtedsp_int16Generated;
import io.kiln.kernels.convolution.Jtedsp_int16_tapsGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Dot products of one or two runs of int16 with the weights of three channels, widened to int16, two taps in a word, by {@code SMLAD}:
 * {@code convolution/dsp_int16} or in assembly {@code convolution/dsp_int16_taps}.
 *
 * @param unroll steps of two taps in the loop of the kernel in assembly; 0 for the kernel in C
 * @param isMultiple whether the weights of a step in assembly are loaded together
 */
record DspInt16Kernel(int unroll, boolean isMultiple) implements DotKernel {
    /** The kernel in C, whose instructions the compiler puts in order. */
    static final DspInt16Kernel COMPILED = new DspInt16Kernel(0, false);

    private static final String UNROLL_KNOB = "unroll";
    private static final String MULTIPLE = "multiple_loads";

    private static final int CHANNELS = 3;
    private static final int UNROLL = 8;

    @Override
    public String title() {
        return "dsp_conv16";
    }

    @Override
    public String reason() {
        return "two products in one instruction; what is summed in 32 bits is proven to fit";
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
        return 2;
    }

    @Override
    public List<Knob> knobs() {
        return List.of(Knob.unusual(UNROLL_KNOB, UNROLL, 16, 32), Knob.flag(MULTIPLE, false, true));
    }

    @Override
    public Configuration usual(Configuration settings) {
        return settings.with(UNROLL_KNOB, UNROLL);
    }

    @Override
    public boolean isKernel(Configuration configuration) {
        return !configuration.isOn(MULTIPLE) || configuration.number(UNROLL_KNOB, 0) > 0;
    }

    @Override
    public DotKernel with(Configuration configuration) {
        return new DspInt16Kernel(configuration.number(UNROLL_KNOB, 0), configuration.isOn(MULTIPLE));
    }

    @Override
    public void put(ByteBuffer table, double weight) {
        table.putShort((short) weight);
    }

    @Override
    public int weightBytes() {
        return Short.BYTES;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        int count = Math.toIntExact(((Expr.IntImm) taps).value());
        if (unroll > 0) {
            DotKernel.call(block, kernel(inputs.size(), count), inputs, weights, sums);
            return;
        }
        boolean isOdd = count % 2 == 1;
        Expr pairs = Exprs.div(taps, Exprs.imm(2));
        DotKernel.call(block, kernel(inputs.size(), isOdd), inputs, weights, sums, pairs);
    }

    /** The kernel in assembly for this many pixels and taps: up to twice as many steps of two taps as a loop has need none. */
    private Kernel kernel(int pixels, int taps) {
        String name = "kiln_dot16_" + taps + "_" + pixels + "x" + CHANNELS
                + (taps / 2 <= 2 * unroll ? "" : "_unroll" + unroll)
                + (isMultiple ? "_multiple" : "");
        return kernel(
                name,
                INT16,
                pixels,
                0,
                (out, html) -> Jtedsp_int16_tapsGenerated.render(out, html, name, pixels, taps, unroll, isMultiple));
    }

    /** The kernel in C for this many pixels; its number is that of pairs of taps. */
    private Kernel kernel(int pixels, boolean isOdd) {
        String name = "kiln_dot16_" + pixels + "x" + CHANNELS + (isOdd ? "_odd" : "");
        return kernel(
                name,
                INT16,
                pixels,
                1,
                (out, html) -> Jtedsp_int16Generated.render(out, html, name, pixels, isOdd, UNROLL),
                Intrinsics.SMLAD);
    }
}
