// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Dot products of one or two runs of int16 with the int8 weights of up to four channels, by {@code SMLAD}: weights stay bytes in flash, and
 * {@code SXTB16} widens two of them at a time. The pairs left over by unrolled steps are summed before the loop.
 *
 * <pre>
 * r0  inputs of the first pixel      r2, r12  a pair of inputs     r4 to r11  sums, by pixel, then by channel
 * r1  weights                        r3, lr   weights              stack      end of the inputs, sums, callee-saved registers
 * weights: two taps of two channels in a word; the channels' in turn
 * </pre>
 *
 * <p>A step of two taps, two pixels and four channels is 16 instructions for 16 products: 4 LDR, 4 SXTB16 and 8 SMLAD.
 *
 * @param distance bytes from the first pixel's inputs to the second's
 * @param valid number of channels that exist
 */
record DspByteKernel(int distance, int valid) implements DotKernel {
    private static final KernelText TEXT = KernelText.of("dsp/dot16_bytes");

    private static final int CHANNELS = 4;
    private static final int PIXELS = 2;
    private static final int TAPS = 2;
    private static final int UNROLL = 2;
    private static final int FIRST_SUM = 4;

    /** Stack offset of the fifth argument, above the pushed registers. */
    private static final int FIFTH = 40;

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
        return distance + TAPS * Short.BYTES * UNROLL > AsmText.LOAD_REACH ? 1 : PIXELS;
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

    @Override
    public DType sum() {
        return INT32;
    }

    @Override
    public DType table() {
        return INT32;
    }

    @Override
    public void put(ByteBuffer table, double weight) {
        table.put((byte) weight);
    }

    @Override
    public int weightBytes() {
        return 1;
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
        block.call(
                kernel(inputs.size(), isOdd),
                DotKernel.arguments(inputs, weights, sums),
                List.of(Exprs.div(taps, Exprs.imm(TAPS))));
    }

    /** Pointers to each pixel's inputs, to the weights, to the sums, then the number of pairs of taps. */
    private Kernel kernel(int pixels, boolean isOdd) {
        String name = "kiln_dot16_bytes_" + pixels + "x" + valid
                + (pixels > 1 ? "_apart" + distance / Short.BYTES : "")
                + (isOdd ? "_odd" : "");
        String definition = TEXT.with("NAME", name)
                .with("CHANNELS", valid)
                .with("PARAMETERS", arguments(pixels, ""))
                .with("UNUSED_PARAMETERS", arguments(pixels, "__attribute__((unused)) "))
                .with("ASSEMBLY", assembly(pixels, isOdd))
                .with("COUNT", isOdd ? "2 * pairs + 1" : "2 * pairs")
                .with(
                        "PRODUCTS",
                        IntStream.range(0, pixels)
                                .mapToObj(p -> String.format(
                                        Locale.ROOT, "      sums[%1$d + c] += x%2$d[i] * weight;\n", CHANNELS * p, p))
                                .collect(Collectors.joining()))
                .text();
        return new Kernel(name, parameters(INT16, pixels), List.of(INT32), List.of(), definition, List.of());
    }

    private static String arguments(int pixels, String attribute) {
        String inputs = IntStream.range(0, pixels)
                .mapToObj(p -> attribute + "const int16_t* x" + p + ", ")
                .collect(Collectors.joining());
        return inputs + attribute + "const int32_t* w, " + attribute + "int32_t* sums, " + attribute + "int32_t pairs";
    }

    private String assembly(int pixels, boolean isOdd) {
        AsmText asm = new AsmText();
        enter(asm, pixels);
        asm.line("1:");
        asm.line("ldr r2, [sp]");
        asm.line("subs r2, r0");
        asm.line("beq 4f");
        asm.line("ands r2, #%d", TAPS * Short.BYTES * (UNROLL - 1));
        asm.line("beq 3f");
        step(asm, pixels, 0, "ldr");
        advance(asm, 1);
        asm.line("b 1b");
        asm.line("3:");
        for (int step = 0; step < UNROLL; step++) {
            step(asm, pixels, step, "ldr");
        }
        asm.line("ldr r2, [sp]");
        advance(asm, UNROLL);
        asm.line("cmp r0, r2");
        asm.line("bne 3b");
        asm.line("4:");
        if (isOdd) {
            step(asm, pixels, 0, "ldrsh");
        }
        asm.line("pop {r2, r3}");
        asm.line("stmia r3, {r4-r%d}", lastSum(pixels));
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    /** Arguments lie in r0 to r3, a fifth one on the stack. */
    private static void enter(AsmText asm, int pixels) {
        if (pixels == PIXELS) {
            asm.line("push {r3-r11, lr}");
            asm.line("ldr r12, [sp, #%d]", FIFTH);
            asm.line("mov r1, r2");
        } else {
            asm.line("mov r12, r3");
            asm.line("mov r3, r2");
            asm.line("push {r3-r11, lr}");
        }
        asm.line("add r2, r0, r12, lsl #2");
        asm.line("push {r2}");
        asm.line("ldmia r3, {r4-r%d}", lastSum(pixels));
    }

    private static int lastSum(int pixels) {
        return FIRST_SUM + CHANNELS * pixels - 1;
    }

    private static void advance(AsmText asm, int steps) {
        asm.line("adds r0, #%d", TAPS * Short.BYTES * steps);
        asm.line("adds r1, #%d", TAPS * CHANNELS * steps);
    }

    /** Two taps, or the last one alone, whose neighbour's weights are 0. */
    private void step(AsmText asm, int pixels, int step, String load) {
        int at = TAPS * Short.BYTES * step;
        asm.line(load + " r2, [r0, #%d]", at);
        if (pixels == PIXELS) {
            asm.line(load + " r12, [r0, #%d]", at + distance);
        }
        for (int first = 0; first < valid; first += 2) {
            asm.line("ldr r3, [r1, #%d]", TAPS * (CHANNELS * step + first));
            if (first + 1 < valid) {
                asm.line("sxtb16 lr, r3, ror #8");
            }
            asm.line("sxtb16 r3, r3");
            for (int c = first; c < Math.min(first + 2, valid); c++) {
                for (int p = 0; p < pixels; p++) {
                    int sum = FIRST_SUM + CHANNELS * p + c;
                    asm.line("smlad r%d, %s, %s, r%d", sum, p == 0 ? "r2" : "r12", c == first ? "r3" : "lr", sum);
                }
            }
        }
    }
}
