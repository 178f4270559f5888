// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Two pixels times blocks of four output channels, with Arm's DSP instructions.
 *
 * <pre>
 * r0        inputs, widened and interleaved: two of pixel 0, two of pixel 1
 * r1        weights of channels a b and c d ({@link DspWeights}), then the constants of the block's channels
 * r2  r3    pixel 0: 256 * A + B, B         r4 r5   256 * C + D, D
 * r6  r7    pixel 1: likewise               r8 r9
 * r10 r11   inputs                          r12 lr  weights
 * stack     inputs, both outputs, end of the inputs, end of the output[, late offset], then r7 and r11, which may be frame pointers
 * </pre>
 *
 * <p>A step of two inputs is 12 instructions for 16 products: 2 LDRD, 8 SMLAD, 2 SXTB16.
 *
 * @param name C name
 * @param channels channels of a block, 1 to 4; all four have weights
 * @param first steps before the loop
 * @param unroll steps in the loop; 0 for no loop
 * @param epilogue the rescaling of the sums
 */
record DspConvKernel(String name, int channels, int first, int unroll, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/conv");

    private static final String[] PIXEL_0 = {"r2", "r3", "r4", "r5"};
    private static final String[] PIXEL_1 = {"r6", "r7", "r8", "r9"};

    /** The kernel for a number of steps of two inputs, unrolled as requested. */
    static DspConvKernel of(int steps, int unroll, int channels, DspRescale rescale) {
        DspEpilogue epilogue = DspEpilogue.of(rescale);
        int first = steps <= 2 * unroll ? steps : (steps - 1) % unroll + 1;
        int loop = steps <= 2 * unroll ? 0 : unroll;
        String name = "kiln_conv_2x" + channels + "_" + first + (loop == 0 ? "" : "_" + loop) + epilogue.suffix();
        return new DspConvKernel(name, channels, first, loop, epilogue);
    }

    Kernel kernel() {
        List<DType> scalars =
                new ArrayList<>(Collections.nCopies(2 + epilogue.parameters().size(), INT32));
        return new Kernel(
                name,
                List.of(
                        Kernel.Pointer.in(INT8),
                        Kernel.Pointer.in(INT32),
                        Kernel.Pointer.out(INT8),
                        Kernel.Pointer.out(INT8)),
                scalars,
                List.of(),
                definition(),
                List.of());
    }

    private String definition() {
        return epilogue.headOfPairs(TEXT)
                .with("NAME", name)
                .with("CHANNELS", channels)
                .with("ASSEMBLY", assembly())
                .with("RESCALE", epilogue.twin("        ", "sums[pixel][channel]"))
                .text();
    }

    private String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r7, r11}");
        List<String> values =
                new ArrayList<>(List.of("x", "w", "out0", "out1", "x + 8 * steps", "out0 + " + channels + " * blocks"));
        List<String> types = new ArrayList<>(
                List.of("const int8_t*", "const int32_t*", "int8_t*", "int8_t*", "const int8_t*", "int8_t*"));
        epilogue.parameters().forEach(p -> {
            values.add(p);
            types.add("int32_t");
        });
        asm.line("push {%s}", AsmText.kept(values.size()));
        asm.line("1:");
        step(asm, true);
        asm.repeat(first - 1, () -> step(asm, false));
        if (unroll > 0) {
            asm.line("2:");
            asm.repeat(unroll, () -> step(asm, false));
            asm.line("ldr r10, [sp, #12]");
            asm.line("cmp r0, r10");
            asm.line("bne 2b");
        }
        asm.line("ldrd r0, lr, [sp, #4]");
        for (int c = 0; c < channels; c++) {
            boolean isSecond = c % 2 != 0;
            List<String> sums = List.of(PIXEL_0[c], PIXEL_1[c]);
            List<String> others = isSecond ? List.of() : List.of(PIXEL_0[c + 1], PIXEL_1[c + 1]);
            DspEpilogue.Sums ofChannel = new DspEpilogue.Sums(sums, others, isSecond);
            epilogue.store(asm, ofChannel, List.of("[r0], #1", "[lr], #1"), "[sp, #20]");
        }
        asm.line("strd r0, lr, [sp, #4]");
        asm.line("ldr r10, [sp, #16]");
        asm.line("cmp r0, r10");
        asm.line("ldr r0, [sp]");
        asm.line("bne 1b");
        asm.line("add sp, #%d", 4 * values.size() - 4);
        asm.line("pop {r7, r11}");
        return asm.statement(values, types, List.of("r6", "r8", "r9", "r10", "r12", "lr"));
    }

    /** Two inputs of both pixels; the first step of a block starts the sums. */
    private void step(AsmText asm, boolean starts) {
        if (!epilogue.range().isSummed()) {
            stepOfBytes(asm, starts);
            return;
        }
        asm.line("ldrd r10, r11, [r0], #8");
        asm.line("ldrd r12, lr, [r1], #8");
        multiply(asm, starts, "r2", "r10", "r12");
        multiply(asm, starts, "r6", "r11", "r12");
        asm.line("sxtb16 r12, r12");
        multiply(asm, starts, "r4", "r10", "lr");
        multiply(asm, starts, "r8", "r11", "lr");
        asm.line("sxtb16 lr, lr");
        multiply(asm, starts, "r3", "r10", "r12");
        multiply(asm, starts, "r7", "r11", "r12");
        multiply(asm, starts, "r5", "r10", "lr");
        multiply(asm, starts, "r9", "r11", "lr");
    }

    /** The same with 16 instructions, for weights as bytes. */
    private static void stepOfBytes(AsmText asm, boolean starts) {
        asm.line("ldrd r10, r11, [r0], #8");
        for (int pair = 0; pair < 4; pair += 2) {
            asm.line("ldr r12, [r1], #4");
            asm.line("sxtb16 lr, r12, ror #8");
            asm.line("sxtb16 r12, r12");
            multiply(asm, starts, PIXEL_0[pair], "r10", "lr");
            multiply(asm, starts, PIXEL_1[pair], "r11", "lr");
            multiply(asm, starts, PIXEL_0[pair + 1], "r10", "r12");
            multiply(asm, starts, PIXEL_1[pair + 1], "r11", "r12");
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
