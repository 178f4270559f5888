// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One row of inputs times blocks of up to eight channels, with Arm's DSP instructions and without scratch.
 *
 * <pre>
 * r0        inputs                          r1      weights ({@link DspWeights}), then the constants of the block's channels
 * r2  r3    256 * A + B, B                  r4 r5   256 * C + D, D      r6 r7   ...      r8 r9   ...
 * r10 r11   inputs 0 2, 1 3                 r12 lr  weights
 * stack     inputs, output, end of whole fours, end of the output[, last inputs][, late offset], then r7 and r11
 * </pre>
 *
 * <p>Four inputs and eight channels are 31 instructions for 32 products: LDR, 4 LDRD, 10 SXTB16, 16 SMLAD. Where weights are bytes,
 * blocks have four channels, and r6 and r7 hold the first channel's weights.
 *
 * @param name C name
 * @param channels channels of a block, 1 to 8
 * @param first steps of four inputs before the loop
 * @param unroll steps in the loop; 0 for no loop
 * @param hasTail whether one to three inputs remain
 * @param epilogue the rescaling of the sums
 */
record DspDenseKernel(String name, int channels, int first, int unroll, boolean hasTail, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/dense");

    /** The kernel for a row of at least four inputs. */
    static DspDenseKernel of(int channels, int inputs, int unroll, DspRescale rescale) {
        DspEpilogue epilogue = DspEpilogue.of(rescale);
        int steps = inputs / 4;
        int first = steps <= 2 * unroll ? steps : (steps - 1) % unroll + 1;
        int loop = steps <= 2 * unroll ? 0 : unroll;
        boolean tail = inputs % 4 != 0;
        String name = "kiln_dense_" + channels + "_" + first + (loop == 0 ? "" : "_" + loop) + (tail ? "_tail" : "")
                + epilogue.suffix();
        return new DspDenseKernel(name, channels, first, loop, tail, epilogue);
    }

    Kernel kernel() {
        return new Kernel(
                name,
                List.of(Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT32), Kernel.Pointer.out(INT8)),
                new ArrayList<>(Collections.nCopies(2 + epilogue.parameters().size(), INT32)),
                List.of(),
                definition(),
                List.of());
    }

    private int pairs() {
        return (channels + 1) / 2;
    }

    private String definition() {
        return epilogue.headOfPairs(TEXT)
                .with("NAME", name)
                .with("CHANNELS", channels)
                .with("PAIRS", pairs())
                .with("EVEN_CHANNELS", 2 * pairs())
                .with("ASSEMBLY", assembly())
                .with("RESCALE", epilogue.twin("      ", "sums[channel]"))
                .text();
    }

    private String assembly() {
        AsmText asm = new AsmText();
        List<String> values =
                new ArrayList<>(List.of("x", "w", "out", "x + count / 4 * 4", "out + " + channels + " * blocks"));
        List<String> types =
                new ArrayList<>(List.of("const int8_t*", "const int32_t*", "int8_t*", "const int8_t*", "int8_t*"));
        if (hasTail) {
            values.add("tail");
            types.add("uint32_t");
        }
        epilogue.parameters().forEach(p -> {
            values.add(p);
            types.add("int32_t");
        });
        int kept = values.size() - 1;
        asm.line("push {r7, r11}");
        asm.line("push {%s}", AsmText.kept(values.size()));
        asm.line("1:");
        step(asm, true, "[r0], #4");
        asm.repeat(first - 1, () -> step(asm, false, "[r0], #4"));
        if (unroll > 0) {
            asm.line("2:");
            asm.repeat(unroll, () -> step(asm, false, "[r0], #4"));
            asm.line("ldr r10, [sp, #8]");
            asm.line("cmp r0, r10");
            asm.line("bne 2b");
        }
        if (hasTail) {
            step(asm, false, "[sp, #16]");
        }
        finish(asm, kept);
        String tail = """
              uint32_t tail = 0;
              for (int32_t i = count / 4 * 4; i < count; ++i) {
                tail |= (uint32_t)(uint8_t)x[i] << (i % 4 * 8);
              }
            """;
        return (hasTail ? tail : "")
                + asm.statement(values, types, List.of("r5", "r6", "r8", "r9", "r10", "r12", "lr"));
    }

    private void finish(AsmText asm, int kept) {
        asm.line("ldr r0, [sp, #4]");
        for (int c = 0; c < channels; c++) {
            boolean isAlone = c == channels - 1 && c % 2 == 0;
            String sum = "r" + (2 + c);
            boolean isSecond = c % 2 != 0;
            List<String> others = isSecond || isAlone ? List.of() : List.of("r" + (3 + c));
            int at = 16 + (hasTail ? 4 : 0);
            DspEpilogue.Sums ofChannel = new DspEpilogue.Sums(List.of(sum), others, isSecond);
            epilogue.store(asm, ofChannel, List.of("[r0], #1"), "[sp, #" + at + "]");
        }
        asm.line("str r0, [sp, #4]");
        asm.line("ldr r10, [sp, #12]");
        asm.line("cmp r0, r10");
        asm.line("ldr r0, [sp]");
        asm.line("bne 1b");
        asm.line("add sp, #%d", 4 * kept);
        asm.line("pop {r7, r11}");
    }

    /** Four inputs; the first step of a block starts the sums. */
    private void step(AsmText asm, boolean starts, String inputs) {
        asm.line("ldr r11, %s", inputs);
        asm.line("sxtb16 r10, r11");
        asm.line("sxtb16 r11, r11, ror #8");
        for (int pair = 0; pair < pairs(); pair++) {
            boolean isAlone = 2 * pair + 1 == channels;
            String both = "r" + (2 + 2 * pair);
            String second = "r" + (3 + 2 * pair);
            asm.line("ldrd r12, lr, [r1], #8");
            if (!epilogue.range().isSummed()) {
                asm.line("sxtb16 r6, r12, ror #8");
                asm.line("sxtb16 r7, lr, ror #8");
                multiply(asm, starts, both, "r10", "r6");
                multiply(asm, false, both, "r11", "r7");
            } else {
                multiply(asm, starts, both, "r10", "r12");
                multiply(asm, false, both, "r11", "lr");
            }
            if (!isAlone) {
                asm.line("sxtb16 r12, r12");
                asm.line("sxtb16 lr, lr");
                multiply(asm, starts, second, "r10", "r12");
                multiply(asm, false, second, "r11", "lr");
            }
        }
    }

    private static void multiply(AsmText asm, boolean starts, String sum, String x, String w) {
        if (starts) {
            asm.line("smuad %s, %s, %s", sum, x, w);
        } else {
            asm.line("smlad %s, %s, %s, %s", sum, x, w, sum);
        }
    }
}
