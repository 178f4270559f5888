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
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Any depthwise convolution on Cortex-M with the DSP extension, four channels at a time: rows are widened into a ring of as many as the window has, and the
 * window's weights once for each position in the ring; then two pixels at a time share the weights.
 *
 * <pre>
 * r0 r1      inputs of both pixels          r2       weights
 * r3 to r6   sums of pixel 0                r7 to r10   sums of pixel 1
 * r11        weights of two channels        r12 lr   inputs
 * stack      what all channels have in common, inputs, weights, constants, output, callee-saved registers, the arguments
 * </pre>
 *
 * <p>A tap of both pixels is 14 instructions for 8 products: 6 LDR, 8 SMLAxy. The loop takes three taps; weights of 0 fill up the last three.
 *
 * @param epilogue the rescaling of the sums
 */
record SharedDepthwiseKernel(SharedEpilogue epilogue) {
    static final int BLOCK = 4;

    /** Taps of a step. */
    static final int STEP = 3;

    /** Bytes of four channels of a tap or pixel. */
    static final int BYTES = 8;

    private static final KernelText TEXT = KernelText.of("dsp/shared_depthwise");
    private static final Intrinsic WIDEN = Intrinsic.inFile("dsp/kiln_depthwise_widen", List.of(), INT32);
    private static final Intrinsic LAYER = Intrinsic.inFile("dsp/kiln_depthwise_layer", List.of(), INT32, WIDEN);
    private static final SharedEpilogue.Free FREE = new SharedEpilogue.Free("r11", "r12", "r0", "r2");
    private static final int WEIGHTS = 4;
    private static final int CONSTANTS = 8;
    private static final int OUT = 12;
    private static final int WINDOW_STEP = 16 + 36;
    private static final int PITCH = WINDOW_STEP + 4;
    private static final int COUNT = PITCH + 4;
    private static final int END = COUNT + 4;
    private static final int COMMON = END + 4;

    /** {@code (in, w, rescale, layer, x, out)}, of which x is scratch. */
    Kernel kernel() {
        return new Kernel(
                "kiln_depthwise_rows" + epilogue.suffix(),
                List.of(
                        Pointer.in(INT8),
                        Pointer.in(INT8),
                        Pointer.in(INT32),
                        Pointer.in(INT16),
                        Pointer.out(INT8),
                        Pointer.out(INT8)),
                List.of(),
                List.of(),
                definition(),
                List.of(WIDEN, LAYER));
    }

    private String definition() {
        String parameters =
                "const int8_t* x, const int8_t* taps, const int32_t* w, int8_t* out, int32_t step, int32_t pitch,"
                        + " int32_t count, int32_t bytes, const int32_t* common";
        return epilogue.head(TEXT, "common")
                .with("NAME", "kiln_depthwise_rows" + epilogue.suffix())
                .with("PIXELS", "kiln_depthwise_pixels" + epilogue.suffix())
                .with("PARAMETERS", parameters)
                .with("UNUSED_PARAMETERS", SharedConvKernel.unused(parameters))
                .with("ASSEMBLY", assembly())
                .text();
    }

    private static String sum(int pixel, int channel) {
        return "r" + (3 + BLOCK * pixel + channel);
    }

    private String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        asm.line("push {r0-r3}");
        asm.line("ldr r5, [sp, #%d]", END);
        asm.line("ldr r4, [sp, #%d]", COMMON);
        asm.line("add r5, r1");
        asm.line("str r5, [sp, #%d]", END);
        epilogue.push(asm, "r4");
        asm.line("1:");
        asm.line("ldr r12, [sp, #%d]", slot(WINDOW_STEP));
        asm.line("ldr r2, [sp, #%d]", slot(WEIGHTS));
        SharedEpilogue.clear(
                asm, IntStream.range(0, 2 * BLOCK).mapToObj(i -> sum(0, i)).toList());
        asm.line("add r1, r0, r12");
        asm.line("2:");
        for (int tap = 0; tap < STEP; tap++) {
            products(asm, BYTES * tap, 0);
            products(asm, BYTES * tap + BYTES / 2, 1);
        }
        asm.line("adds r2, #%d", STEP * BYTES);
        asm.line("ldr r11, [sp, #%d]", slot(END));
        asm.line("adds r0, #%d", STEP * BYTES);
        asm.line("adds r1, #%d", STEP * BYTES);
        asm.line("cmp r2, r11");
        asm.line("bne 2b");
        asm.line("ldr r1, [sp, #%d]", slot(CONSTANTS));
        epilogue.emitScaled(
                asm,
                Stream.iterate(0, c -> c + 1)
                        .limit(BLOCK)
                        .map(c -> List.of(sum(0, c), sum(1, c)))
                        .toList(),
                FREE);
        store(asm);
        asm.line("add sp, #%d", slot(16));
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    /** Offset on the stack, behind the words that all channels have in common. */
    private int slot(int offset) {
        return epilogue.bytes() + offset;
    }

    /** Two channels of a tap, of both pixels. */
    private static void products(AsmText asm, int offset, int channel) {
        asm.line("ldr r11, [r2, #%d]", offset);
        asm.line("ldr r12, [r0, #%d]", offset);
        asm.line("ldr lr, [r1, #%d]", offset);
        for (int pixel = 0; pixel < 2; pixel++) {
            String x = pixel == 0 ? "r12" : "lr";
            String first = sum(pixel, channel);
            String second = sum(pixel, channel + 2);
            asm.line("smlabb %s, %s, r11, %s", first, x, first);
            asm.line("smlatt %s, %s, r11, %s", second, x, second);
        }
    }

    /** Stores both pixels, and goes on two pixels further, or one if only one is left. */
    private void store(AsmText asm) {
        asm.line("ldr r1, [sp, #%d]", slot(OUT));
        asm.line("ldr r2, [sp, #%d]", slot(PITCH));
        asm.line("ldr r0, [sp, #%d]", slot(0));
        asm.line("adds r2, r2, r1");
        for (int pixel = 0; pixel < 2; pixel++) {
            for (int c = 0; c < BLOCK; c++) {
                asm.line("strb %s, [%s, #%d]", sum(pixel, c), pixel == 0 ? "r1" : "r2", c);
            }
        }
        asm.line("ldr r3, [sp, #%d]", slot(COUNT));
        asm.line("ldr r4, [sp, #%d]", slot(WINDOW_STEP));
        asm.line("ldr r5, [sp, #%d]", slot(PITCH));
        asm.line("subs r3, #2");
        asm.line("ble 3f");
        asm.line("add r0, r4");
        asm.line("cmp r3, #1");
        asm.line("itee eq");
        asm.line("moveq r3, #2");
        asm.line("addne r0, r4");
        asm.line("addne r2, r5");
        asm.line("str r0, [sp, #%d]", slot(0));
        asm.line("str r2, [sp, #%d]", slot(OUT));
        asm.line("str r3, [sp, #%d]", slot(COUNT));
        asm.line("b 1b");
        asm.line("3:");
    }
}
