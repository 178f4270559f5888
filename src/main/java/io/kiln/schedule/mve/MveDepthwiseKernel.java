// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The micro-kernel of {@link MveDepthwise}: gathers four words of a window, which are up to 16 inputs of an output channel, and multiplies
 * and adds them at once:
 *
 * <pre>
 *   q0-q3   weights of four channels, kept for a whole row
 *   q4      addresses of the window's words     q5   inputs, then the four results
 *   q6, q7  second and third words of the four channels' constants
 *   r0 r2 r4 r6 accumulators, started with the biases; r3 output; r5 biases; r8 step; lr count of pixels
 * </pre>
 *
 * <p>If rows are so narrow that keeping weights does not pay, they are reloaded for each pixel ({@code narrow}); then
 * q6 and q7 hold constants in turn, and the loop goes over groups of channels.
 *
 * <p>Windows of more than four words are summed in passes of four, for which weights and addresses are loaded each time.
 *
 * @param narrow whether weights are loaded for each pixel
 * @param shape of the windows and channels
 * @param end how sums become results
 */
record MveDepthwiseKernel(boolean narrow, Shape shape, MveEnd end) {
    private static final KernelText TEXT = KernelText.of("mve/depthwise");

    /**
     * Windows and channels.
     *
     * @param passes fours of words of a window
     * @param multiplier output channels of an input channel, of which one is computed
     * @param valid channels that exist of the four
     */
    record Shape(int passes, int multiplier, int valid) {
        /** Words of a group of four channels: weights, then three for the end. */
        int groupWords() {
            return 16 * passes + 12;
        }

        /** Whether the registers are enough for weights that are kept. */
        boolean fitsRegisters() {
            return passes == 1;
        }

        private String suffix() {
            return (passes == 1 ? "" : "_words" + 4 * passes)
                    + (multiplier == 1 ? "" : "_every" + multiplier)
                    + (valid == 4 ? "" : "_of" + valid);
        }
    }

    /** Offset of the upper limit in the state. */
    private static final int ABOVE = 40;

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(
                        Pointer.in(DType.INT8),
                        Pointer.in(DType.INT32),
                        Pointer.in(DType.INT32),
                        Pointer.out(DType.INT8)),
                Collections.nCopies(7, DType.INT32),
                List.of(),
                definition(),
                end.twins());
    }

    String name() {
        return "kiln_mve_depthwise" + (narrow ? "_narrow" : "") + shape.suffix() + end.suffix();
    }

    private String definition() {
        return end.in(TEXT)
                .with("NAME", name())
                .with("LOOP", narrow ? "  for (int32_t p = 0; p < pixels; ++p) {\n" : "  {\n")
                .with("INSTRUCTIONS", MveText.lines(instructions()))
                .with("NEXT_PIXEL", narrow ? "    state.x += step;\n    state.out += channels;\n" : "")
                .with("PASSES", shape.passes())
                .with("EVERY", shape.multiplier())
                .with("CHANNELS", "4 * groups" + (shape.valid() == 4 ? "" : " - " + (4 - shape.valid())))
                .text();
    }

    private String instructions() {
        Optional<MveFloor> floor = end.floor();
        if (narrow) {
            String sums = shape.passes() == 1 ? ROW + GROUP_OF_PIXEL : passes();
            String results =
                    end.any() ? anyNarrow() : floor.map(this::roundDownNarrow).orElseGet(() -> ROUND_NARROW + finish());
            return sums + results + store() + "le lr, 1b\n";
        }
        return end.any()
                ? group() + PLAIN_PIXEL + any() + next()
                : group() + floor.map(f -> PLAIN_PIXEL + roundDown(f)).orElseGet(() -> PIXEL + finish()) + next();
    }

    private static final String STATE = """
        ldrd r0, r2, [r9]
        ldr r3, [r9, #12]
        ldrd r5, lr, [r9, #24]
        ldrd r11, r12, [r9, #32]
        """;

    private static final String ROW = STATE + """
        vldrw.32 q4, [r2]
        vadd.i32 q4, q4, r0
        mov r1, #-1
        mov r8, #16
        dls lr, lr
        """;

    private static final String GROUP_OF_PIXEL = """
        1:
        vldrw.32 q5, [q4]
        vldrw.32 q0, [r5], #16
        vmladav.s8 r0, q0, q5
        vldrw.32 q6, [q4, #4]
        vldrw.32 q1, [r5], #16
        vmladav.s8 r2, q1, q6
        vldrw.32 q5, [q4, #8]
        vldrw.32 q2, [r5], #16
        vmladav.s8 r4, q2, q5
        vldrw.32 q6, [q4, #12]
        vldrw.32 q3, [r5], #16
        vmladav.s8 r6, q3, q6
        vadd.i32 q4, q4, r8
        vldrw.32 q6, [r5], #16
        vmov q5[2], q5[0], r0, r4
        vmov q5[3], q5[1], r2, r6
        """;

    /** The sums of a group of channels in several passes; r8 points to the offsets, r10 to the channels. */
    private String passes() {
        StringBuilder out = new StringBuilder(STATE + "mov r1, #-1\nmov r8, r2\nmov r10, r0\ndls lr, lr\n1:\n");
        for (int pass = 0; pass < shape.passes(); pass++) {
            out.append(String.format(Locale.ROOT, "vldrw.32 q4, [r8, #%d]\nvadd.i32 q4, q4, r10\n", 16 * pass));
            for (int c = 0; c < 4; c++) {
                int input = 5 + c % 2;
                out.append(String.format(
                        Locale.ROOT, "vldrw.32 q%d, [q4, #%d]\nvldrw.32 q%d, [r5], #16\n", input, 4 * c, c));
                out.append(String.format(
                        Locale.ROOT, "vmladav%s.s8 r%d, q%d, q%d\n", pass == 0 ? "" : "a", 2 * c, c, input));
            }
        }
        return out.append("adds r10, r10, #16\nvldrw.32 q6, [r5], #16\n")
                .append("vmov q5[2], q5[0], r0, r4\nvmov q5[3], q5[1], r2, r6\n")
                .toString();
    }

    /** Stores the results of a group of channels, which are side by side or some bytes apart. */
    private String store() {
        int every = shape.multiplier();
        return every == 1
                ? store("[r3], #4")
                : places() + store("[r3, q6]") + String.format(Locale.ROOT, "add r3, r3, #%d\n", 4 * every);
    }

    private String store(String place) {
        return shape.valid() == 4
                ? "vstrb.32 q5, " + place + "\n"
                : String.format(Locale.ROOT, "mov r0, #%d\nvctp.32 r0\nvpst\nvstrbt.32 q5, %s\n", shape.valid(), place);
    }

    /** Where results that are some bytes apart go: one instruction counts in steps of 1, 2, 4 or 8. */
    private String places() {
        int every = shape.multiplier();
        boolean isStep = every <= 8 && Integer.bitCount(every) == 1;
        return String.format(Locale.ROOT, "mov r0, #0\nvidup.u32 q6, r0, #%d\n", isStep ? every : 1)
                + (isStep ? "" : String.format(Locale.ROOT, "mov r0, #%d\nvmul.i32 q6, q6, r0\n", every));
    }

    private String group() {
        int every = shape.multiplier();
        return every == 1
                ? GROUP
                : GROUP.replace("adds r4, r3, #4\n", String.format(Locale.ROOT, "add r4, r3, #%d\n", 4 * every));
    }

    private String next() {
        int every = shape.multiplier();
        return every == 1 ? store("[r3]") + NEXT : places() + store("[r3, q6]") + "vldrw.32 q6, [r5, #16]\n" + NEXT;
    }

    private static final String ROUND_NARROW = """
        vadd.i32 q5, q5, q6
        vldrw.32 q7, [r5], #16
        vqrdmulh.s32 q5, q5, q7
        vldrw.32 q7, [r5], #16
        """;

    private static final String GROUP = """
        ldrd r8, r10, [r9, #16]
        ldr r5, [r9, #24]
        ldrd r11, r12, [r9, #32]
        mov r1, #-1
        2:
        ldrd r0, r2, [r9]
        ldrd lr, r3, [r9, #8]
        vldrw.32 q4, [r2]
        vadd.i32 q4, q4, r0
        adds r0, r0, #16
        adds r4, r3, #4
        str r0, [r9]
        str r4, [r9, #12]
        vldrw.32 q0, [r5], #16
        vldrw.32 q1, [r5], #16
        vldrw.32 q2, [r5], #16
        vldrw.32 q3, [r5], #16
        vldrw.32 q6, [r5, #16]
        vldrw.32 q7, [r5, #32]
        dls lr, lr
        """;

    private static final String PIXEL = """
        1:
        ldrd r0, r2, [r5]
        vldrw.32 q5, [q4]
        vmladava.s8 r0, q0, q5
        vldrw.32 q5, [q4, #4]
        vmladava.s8 r2, q1, q5
        ldrd r4, r6, [r5, #8]
        vldrw.32 q5, [q4, #8]
        vmladava.s8 r4, q2, q5
        vldrw.32 q5, [q4, #12]
        vmladava.s8 r6, q3, q5
        vadd.i32 q4, q4, r8
        vmov q5[2], q5[0], r0, r4
        vmov q5[3], q5[1], r2, r6
        vqrdmulh.s32 q5, q5, q6
        """;

    private static final String PLAIN_PIXEL = """
        1:
        vldrw.32 q5, [q4]
        vmladav.s8 r0, q0, q5
        vldrw.32 q5, [q4, #4]
        vmladav.s8 r2, q1, q5
        vldrw.32 q5, [q4, #8]
        vmladav.s8 r4, q2, q5
        vldrw.32 q5, [q4, #12]
        vmladav.s8 r6, q3, q5
        vadd.i32 q4, q4, r8
        vmov q5[2], q5[0], r0, r4
        vmov q5[3], q5[1], r2, r6
        """;

    private static final String NEXT = """
        add r3, r3, r10
        le lr, 1b
        ldr r0, [r9, #28]
        adds r5, r5, #48
        subs r0, r0, #1
        str r0, [r9, #28]
        bne 2b
        """;

    private String finish() {
        String fix = end.negatives() ? "vpt.s32 lt, q5, zr\nvaddt.i32 q5, q5, r1\n" : "";
        return fix + MveText.finish(end.limits(), 5, 7, ABOVE);
    }

    /** Constants are loaded when they are needed. */
    private static String any() {
        return "vldrw.32 q6, [r5]\nvadd.i32 q5, q5, q6\nvldrw.32 q7, [r5, #32]\n"
                + MveEnd.anyShift(5, 7, 6, "vldrw.32 q6, [r5, #16]")
                + MveText.limit(true, 5, ABOVE);
    }

    private static String anyNarrow() {
        return "vadd.i32 q5, q5, q6\nvldrw.32 q7, [r5, #16]\n"
                + MveEnd.anyShift(5, 7, 6, "vldrw.32 q6, [r5], #32")
                + MveText.limit(true, 5, ABOVE);
    }

    /** Without a free vector, the constants are loaded again after a correction. */
    private String roundDown(MveFloor floor) {
        String correction = floor.corrects()
                ? "vldrw.32 q7, [r5]\n" + floor.correct(5, 7, 6) + "vldrw.32 q6, [r5, #16]\nvldrw.32 q7, [r5, #32]\n"
                : "";
        return floor.scale(5) + "vmulh.s32 q5, q5, q6\nvadd.i32 q5, q5, q7\n" + correction + floor.shift(5)
                + MveText.limit(end.limits(), 5, ABOVE);
    }

    private String roundDownNarrow(MveFloor floor) {
        return floor.scale(5)
                + "vldrw.32 q7, [r5], #16\nvmulh.s32 q5, q5, q7\nvldrw.32 q7, [r5], #16\nvadd.i32 q5, q5, q7\n"
                + floor.correct(5, 6, 0)
                + floor.shift(5)
                + MveText.limit(end.limits(), 5, ABOVE);
    }
}
