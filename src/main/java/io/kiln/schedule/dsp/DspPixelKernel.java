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
 * One pixel, which is left over from pairs, times blocks of four output channels: what {@link DspConvAsm} computes for its first pixel,
 * from the same inputs and weights.
 *
 * <pre>
 * r0           inputs                       r1    weights, then the constants of the block's channels
 * r2  r3       256 * A + B, B               r4 r5   256 * C + D, D
 * r10 r11      inputs of two steps          r6 r8 r9 r12   their weights
 * lr           the first weights of two as bytes
 * stack        inputs, output, end of the inputs, end of the output[, late offset], then r7 and r11, which may be frame pointers
 * </pre>
 *
 * <p>Four inputs are 15 instructions for 16 products: LDM, 2 LDR, 8 SMLAD, 4 SXTB16.
 *
 * @param name C name
 * @param channels channels of a block, 1 to 4; all four have weights
 * @param first steps of four inputs before the loop
 * @param unroll steps in the loop; 0 for no loop
 * @param epilogue the rescaling of the sums
 */
record DspPixelKernel(String name, int channels, int first, int unroll, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/pixel");

    /** Bytes of four inputs of both pixels. */
    private static final int STEP_BYTES = 16;

    /** The kernel for a number of steps of four inputs, unrolled as requested. */
    static DspPixelKernel of(int steps, int unroll, int channels, DspRescale rescale) {
        DspEpilogue epilogue = DspEpilogue.of(rescale);
        int first = steps <= 2 * unroll ? steps : (steps - 1) % unroll + 1;
        int loop = steps <= 2 * unroll ? 0 : unroll;
        String name = "kiln_conv_1x" + channels + "_" + first + (loop == 0 ? "" : "_" + loop) + epilogue.suffix();
        return new DspPixelKernel(name, channels, first, loop, epilogue);
    }

    Kernel kernel() {
        return new Kernel(
                name,
                List.of(Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT32), Kernel.Pointer.out(INT8)),
                Collections.nCopies(2 + epilogue.parameters().size(), INT32),
                List.of(),
                definition(),
                List.of());
    }

    private String definition() {
        return epilogue.headOfPairs(TEXT)
                .with("NAME", name)
                .with("CHANNELS", channels)
                .with("ASSEMBLY", assembly())
                .with("RESCALE", epilogue.twin("      ", "sums[channel]"))
                .text();
    }

    private String assembly() {
        AsmText asm = new AsmText();
        List<String> values =
                new ArrayList<>(List.of("x", "w", "out", "x + 16 * steps", "out + " + channels + " * blocks"));
        List<String> types =
                new ArrayList<>(List.of("const int8_t*", "const int32_t*", "int8_t*", "const int8_t*", "int8_t*"));
        epilogue.parameters().forEach(p -> {
            values.add(p);
            types.add("int32_t");
        });
        asm.line("push {r7, r11}");
        asm.line("push {%s}", AsmText.kept(values.size()));
        asm.line("1:");
        asm.repeatFrom(0, STEP_BYTES, 1, () -> step(asm, true));
        asm.repeatFrom(STEP_BYTES, STEP_BYTES, first - 1, () -> step(asm, false));
        asm.line("add r0, #%d", STEP_BYTES * first);
        if (unroll > 0) {
            asm.line("2:");
            asm.repeatFrom(0, STEP_BYTES, unroll, () -> step(asm, false));
            asm.line("add r0, #%d", STEP_BYTES * unroll);
            asm.line("ldr r10, [sp, #8]");
            asm.line("cmp r0, r10");
            asm.line("bne 2b");
        }
        finish(asm);
        asm.line("add sp, #%d", 4 * values.size() - 4);
        asm.line("pop {r7, r11}");
        return asm.statement(values, types, List.of("r5", "r6", "r8", "r9", "r10", "r12", "lr"));
    }

    private void finish(AsmText asm) {
        asm.line("ldr r0, [sp, #4]");
        for (int c = 0; c < channels; c++) {
            boolean isSecond = c % 2 != 0;
            List<String> others = isSecond ? List.of() : List.of("r" + (3 + c));
            DspEpilogue.Sums sums = new DspEpilogue.Sums(List.of("r" + (2 + c)), others, isSecond);
            epilogue.store(asm, sums, List.of("[r0], #1"), "[sp, #16]");
        }
        asm.line("str r0, [sp, #4]");
        asm.line("ldr r10, [sp, #12]");
        asm.line("ldr r11, [sp]");
        asm.line("cmp r0, r10");
        asm.line("mov r0, r11");
        asm.line("bne 1b");
    }

    /** Four inputs; the first step of a block starts the sums. */
    private void step(AsmText asm, boolean starts) {
        asm.line("ldm r1!, {r6, r8, r9, r12}");
        asm.line("ldr r10, [r0, #%s]", AsmText.AT);
        asm.line("ldr r11, [r0, #%s + 8]", AsmText.AT);
        half(asm, starts, "r10", List.of("r6", "r8"));
        half(asm, false, "r11", List.of("r9", "r12"));
    }

    /** Two inputs times the weights of both pairs of channels. */
    private void half(AsmText asm, boolean starts, String x, List<String> weights) {
        for (int pair = 0; pair < 2; pair++) {
            String w = weights.get(pair);
            String both = w;
            if (!epilogue.range().isSummed()) {
                asm.line("sxtb16 lr, %s, ror #8", w);
                both = "lr";
            }
            DspConvAsm.multiply(asm, starts, "r" + (2 + 2 * pair), x, both);
            asm.line("sxtb16 %s, %s", w, w);
            DspConvAsm.multiply(asm, starts, "r" + (3 + 2 * pair), x, w);
        }
    }
}
