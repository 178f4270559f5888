// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;

import io.kiln.kernels.convolution.Jtedsp_int16_bytesGenerated;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * The kernel {@code convolution/dsp_int16_bytes}: dot products of one or two runs of int16 with the int8 weights of up to four channels, by {@code SMLAD}.
 *
 * @param distance bytes from the first pixel's inputs to the second's
 * @param valid number of channels that exist
 */
record DspByteKernel(int distance, int valid) implements DotKernel {

    private static final int CHANNELS = 4;
    private static final int PIXELS = 2;
    private static final int TAPS = 2;
    private static final int UNROLL = 2;

    /** The kernel for a layer whose weights have no zero point. */
    static DotKernel of(ConvComputation conv) {
        int distance = Short.BYTES * conv.window().strideW() * conv.channelsPerGroup();
        return new DspByteKernel(distance, Math.min(CHANNELS, conv.channels()));
    }

    @Override
    public String title() {
        return "dsp_conv16_bytes";
    }

    @Override
    public String reason() {
        return "two products in one instruction; weights stay bytes; what is summed in 32 bits is proven to fit";
    }

    /** An immediate offset has to reach from a run to the next one. */
    @Override
    public int pixels() {
        return distance + TAPS * Short.BYTES * UNROLL > InstructionSets.LOAD_REACH ? 1 : PIXELS;
    }

    @Override
    public int channels() {
        return CHANNELS;
    }

    @Override
    public int step() {
        return TAPS;
    }

    @Override
    public boolean hasCommonResults() {
        return true;
    }

    /** Bytes 0 and 2 of a word are two taps of a channel, bytes 1 and 3 those of the next. */
    @Override
    public int weightAt(int place) {
        int channel = place / 4 * 2 + place % 2;
        return channel * TAPS + place % 4 / 2;
    }

    @Override
    public DotKernel of(int channels) {
        return new DspByteKernel(distance, channels);
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        boolean isOdd = ((Expr.IntImm) taps).value() % TAPS != 0;
        Expr pairs = Exprs.div(taps, Exprs.imm(TAPS));
        DotKernel.call(block, kernel(inputs.size(), isOdd), inputs, weights, sums, pairs);
    }

    /** Its number is that of pairs of taps. */
    private Kernel kernel(int pixels, boolean isOdd) {
        String name = "kiln_dot16_bytes_" + pixels + "x" + valid
                + (pixels > 1 ? "_apart" + distance / Short.BYTES : "")
                + (isOdd ? "_odd" : "");
        List<String> parameters = DotKernel.parameters(pixels, "const int32_t* w", "int32_t* sums", "int32_t pairs");
        return kernel(
                name,
                INT16,
                pixels,
                1,
                (out, html) -> Jtedsp_int16_bytesGenerated.render(
                        out, html, name, pixels, valid, distance, UNROLL, isOdd, parameters));
    }
}
