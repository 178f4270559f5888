// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.shared;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;

/**
 * Any convolution on Cortex-M with the DSP extension: windows of two pixels are widened to scratch, then multiplied with blocks of
 * four channels.
 *
 * <pre>
 * r0        inputs                          r1      weights and constants ({@link SharedWeights})
 * r2  r3    pixel 0: 256 * A + B, B         r4 r5   256 * C + D, D
 * r6  r7    pixel 1: likewise               r8 r9
 * r10 r11   inputs                          r12 lr  weights
 * stack     what all channels have in common, inputs, output, pitch, the last block's output, end of the inputs, their bytes, callee-saved registers
 * </pre>
 *
 * <p>Two inputs of both pixels are 14 instructions for 16 products: 4 LDR in a row, 8 SMLAD, 2 SXTB16. The loop takes eight inputs; it is entered in its middle
 * if four are left over.
 *
 * @param epilogue the rescaling of the sums
 */
record SharedConvKernel(SharedEpilogue epilogue) {
    static final int BLOCK = 4;

    private static final KernelText TEXT = KernelText.of("dsp/shared_conv");
    private static final KernelText PIXELS_TEXT = KernelText.of("dsp/shared_conv_pixels");
    private static final KernelText BLOCKS_TEXT = KernelText.of("dsp/shared_conv_blocks");
    private static final Intrinsic WIDEN = Intrinsic.inFile("dsp/kiln_conv_widen", List.of(), INT32);
    private static final Intrinsic COPY = Intrinsic.inFile("dsp/kiln_copy_row", List.of(), INT32);
    private static final Intrinsic FILL = Intrinsic.inFile("dsp/kiln_fill_row", List.of(), INT32);
    private static final Intrinsic LAYER = Intrinsic.inFile("dsp/kiln_conv_layer", List.of(), INT32, WIDEN, COPY, FILL);
    private static final Intrinsic PIXELS = Intrinsic.inFile("dsp/kiln_conv_pixels", List.of(), INT32, WIDEN);
    private static final List<List<String>> SUMS =
            List.of(List.of("r2", "r6"), List.of("r3", "r7"), List.of("r4", "r8"), List.of("r5", "r9"));
    private static final int OUT = 4;
    private static final int PITCH = 8;
    private static final int LAST = 12;
    private static final int END = 16;
    private static final int BYTES = 20;
    private static final int FOUR_INPUTS = 16;

    /** {@code (in, w, layer, x, out)}, of which x is scratch. */
    Kernel kernel() {
        Intrinsic blocks = blocks();
        String name = "kiln_conv" + epilogue.suffix();
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.in(INT16), Pointer.out(INT8), Pointer.out(INT8)),
                List.of(),
                List.of(),
                TEXT.with("NAME", name).with("BLOCKS", blocks.name()).text(),
                List.of(WIDEN, COPY, FILL, LAYER, blocks));
    }

    /** For outputs that read only the pixel at their place: {@code (in, w, x, out, pixels, inputs, channels)}, of which x is scratch. */
    Kernel ofPixels() {
        Intrinsic blocks = blocks();
        String name = "kiln_conv_1x1" + epilogue.suffix();
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.out(INT8), Pointer.out(INT8)),
                List.of(INT32, INT32, INT32),
                List.of(),
                PIXELS_TEXT.with("NAME", name).with("BLOCKS", blocks.name()).text(),
                List.of(WIDEN, PIXELS, blocks));
    }

    private Intrinsic blocks() {
        String name = "kiln_conv_blocks" + epilogue.suffix();
        String parameters =
                "const int8_t* x, const int32_t* w, int8_t* out, int32_t pitch, int32_t channels, int32_t bytes";
        String definition = epilogue.head(BLOCKS_TEXT, "w")
                .with("HEADER_WORDS", epilogue.header().size())
                .with("NAME", name)
                .with("PARAMETERS", parameters)
                .with("UNUSED_PARAMETERS", unused(parameters))
                .with("ASSEMBLY", assembly())
                .text();
        return new Intrinsic(name, List.of(), INT32, "", definition, List.of());
    }

    /** Parameters of a naked function, which only its assembly reads. */
    static String unused(String parameters) {
        String mark = "__attribute__((unused)) ";
        return mark + parameters.replace(", ", ", " + mark);
    }

    private String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        asm.line("ldr r10, [sp, #36]");
        asm.line("ldr r12, [sp, #40]");
        asm.line("add r10, r2");
        asm.line("subs r10, #%d", BLOCK);
        asm.line("add r11, r12, r0");
        asm.line("push {r0, r2, r3, r10, r11, r12}");
        epilogue.push(asm, "r1");
        asm.line("1:");
        SharedEpilogue.clear(asm, SUMS.stream().flatMap(List::stream).toList());
        asm.line("ldr r10, [sp, #%d]", slot(BYTES));
        asm.line("tst r10, #%d", FOUR_INPUTS);
        asm.line("beq 2f");
        asm.line("subs r0, #%d", FOUR_INPUTS);
        asm.line("subs r1, #%d", FOUR_INPUTS);
        asm.line("b 3f");
        asm.line("2:");
        step(asm, 0);
        step(asm, 8);
        asm.line("3:");
        step(asm, FOUR_INPUTS);
        step(asm, FOUR_INPUTS + 8);
        asm.line("adds r0, #%d", 2 * FOUR_INPUTS);
        asm.line("ldr r10, [sp, #%d]", slot(END));
        asm.line("adds r1, #%d", 2 * FOUR_INPUTS);
        asm.line("cmp r0, r10");
        asm.line("bne 2b");
        epilogue.emit(asm, SUMS);
        store(asm);
        asm.line("add sp, #%d", slot(BYTES) + Integer.BYTES);
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    /** Offset on the stack, behind the words that all channels have in common. */
    private int slot(int offset) {
        return epilogue.bytes() + offset;
    }

    /** Two inputs of both pixels. */
    private static void step(AsmText asm, int offset) {
        asm.line("ldr r10, [r0, #%d]", offset);
        asm.line("ldr r11, [r0, #%d]", offset + 4);
        asm.line("ldr r12, [r1, #%d]", offset);
        asm.line("ldr lr, [r1, #%d]", offset + 4);
        multiply(asm, "r2", "r10", "r12");
        multiply(asm, "r6", "r11", "r12");
        asm.line("sxtb16 r12, r12");
        multiply(asm, "r4", "r10", "lr");
        multiply(asm, "r8", "r11", "lr");
        asm.line("sxtb16 lr, lr");
        multiply(asm, "r3", "r10", "r12");
        multiply(asm, "r7", "r11", "r12");
        multiply(asm, "r5", "r10", "lr");
        multiply(asm, "r9", "r11", "lr");
    }

    private static void multiply(AsmText asm, String sum, String x, String w) {
        asm.line("smlad %s, %s, %s, %s", sum, x, w, sum);
    }

    /** Stores both pixels, the second one first, and goes on with the next block. */
    private void store(AsmText asm) {
        asm.line("ldr r0, [sp, #%d]", slot(OUT));
        asm.line("ldr lr, [sp, #%d]", slot(PITCH));
        asm.line("add lr, r0");
        for (int pixel = 1; pixel >= 0; pixel--) {
            for (int c = 0; c < BLOCK; c++) {
                asm.line("strb %s, [%s, #%d]", SUMS.get(c).get(pixel), pixel == 1 ? "lr" : "r0", c);
            }
        }
        asm.line("ldr r2, [sp, #%d]", slot(LAST));
        asm.line("cmp r0, r2");
        asm.line("beq 4f");
        asm.line("adds r0, #%d", BLOCK);
        asm.line("cmp r0, r2");
        asm.line("it hi");
        asm.line("movhi r0, r2");
        asm.line("str r0, [sp, #%d]", slot(OUT));
        asm.line("ldr r0, [sp, #%d]", slot(0));
        asm.line("b 1b");
        asm.line("4:");
    }
}
