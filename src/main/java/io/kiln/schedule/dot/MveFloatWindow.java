// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.ir.op.element.Clip;
import io.kiln.schedule.mve.MveText;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Whole windows of float data on MVE in one call: the sums start with the biases, stay in registers for all rows of the window, and are limited
 * and stored. {@code kernel(input, weights, biases, output, runs)}: the number of runs of taps, of which those from the
 * ring's start on are counted in the upper 16 bits; without it for a single run.
 *
 * <pre>
 *   q0-q5   sums: pixel by pixel, in it vector by vector       q6, q7  weights of a tap; at the end limits
 *   r1, r3, r5 inputs; r0 r2, r4 r6, r8 r10 two values of each; r12 weights; lr turns of the loop; r9 runs; r11 outputs
 * </pre>
 *
 * @param block pixels and channels
 * @param walk where the input's and the weights' values are
 * @param outputs elements from one pixel of the output to the next
 * @param clip limits
 * @param loop how taps are ordered
 */
record MveFloatWindow(Block block, Walk walk, int outputs, Optional<Clip> clip, Loop loop) {
    private static final KernelText TEXT = KernelText.of("mve/windowf");

    /** Values of one pixel that are loaded by one instruction, in ascending order of registers. */
    private static final int[] MANY = {0, 2, 3, 4, 5, 6, 8, 10};

    /** Registers of two values of each pixel. */
    private static final int[] PAIRS = {0, 2, 4, 6, 8, 10};

    /**
     * What one call computes.
     *
     * @param vectors of four channels; at most 6 times pixels
     */
    record Block(int pixels, int vectors) {
        int channels() {
            return 4 * vectors;
        }
    }

    /**
     * Elements from one value to another.
     *
     * @param taps of a run
     * @param step from the first tap of a pixel to that of the next
     * @param line from the first tap of a run to that of the next
     * @param weights likewise in the table
     * @param ring of all rows that the input's buffer holds, if they are a ring; otherwise 0
     * @param isOne whether there is never more than one run
     */
    record Walk(int taps, int step, int line, int weights, int ring, boolean isOne) {}

    /**
     * How taps are ordered.
     *
     * @param unroll taps in a turn of the loop, an even number
     * @param isMany whether eight values of a single pixel are loaded by one instruction
     */
    record Loop(int unroll, boolean isMany) {}

    /** The micro-kernel. */
    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Pointer.in(FLOAT32), Pointer.in(FLOAT32), Pointer.in(FLOAT32), Pointer.out(FLOAT32)),
                walk.isOne ? List.<DType>of() : List.of(INT32),
                List.of(),
                definition(),
                List.of());
    }

    private String name() {
        return "kiln_mve_windowf_" + block.pixels + "x" + block.channels() + "_" + walk.taps
                + (block.pixels > 1 ? "_step" + walk.step + "_of" + outputs : "")
                + (walk.isOne ? "" : "_line" + walk.line + "_weights" + walk.weights)
                + (isRing() ? "_ring" + walk.ring : "")
                + (loop.unroll > 2 ? "_unroll" + loop.unroll : "")
                + (loop.isMany && block.pixels == 1 ? "_many" : "")
                + low().map(value -> "_low" + Integer.toHexString(bits(value))).orElse("")
                + high().map(value -> "_high" + Integer.toHexString(bits(value)))
                        .orElse("");
    }

    private boolean isRing() {
        return !walk.isOne && walk.ring > 0;
    }

    private Optional<Float> low() {
        return clip.map(limits -> (float) limits.min()).filter(value -> value > -Float.MAX_VALUE);
    }

    private Optional<Float> high() {
        return clip.map(limits -> (float) limits.max()).filter(value -> value < Float.MAX_VALUE);
    }

    private static int bits(float value) {
        return Float.floatToIntBits(value);
    }

    private String definition() {
        String line = "run * " + walk.line + (isRing() ? " - (run < (runs & 0xffff) ? 0 : " + walk.ring + ")" : "");
        return TEXT.with("PIXELS", block.pixels)
                .with("CHANNELS", block.channels())
                .with("TAPS", walk.taps)
                .with("STEP", walk.step)
                .with("OUTPUTS", outputs)
                .with("WEIGHTS", walk.weights)
                .with("LINE", walk.isOne ? "0" : line)
                .with("RUNS", walk.isOne ? "1" : isRing() ? "(runs & 0xffff) + (runs >> 16)" : "runs")
                .with("NAME", name())
                .with(
                        "PARAMETERS",
                        "const float* x, const float* w, const float* bias, float* out"
                                + (walk.isOne ? "" : ", int32_t runs"))
                .with("COUNT", walk.isOne ? "" : "  register int32_t count __asm__(\"r9\") = runs;\n")
                .with(
                        "OPERANDS",
                        "\"+r\"(first), \"+r\"(weights), \"+r\"(start), \"+r\"(to)"
                                + (walk.isOne ? "" : ", \"+r\"(count)"))
                .with("INSTRUCTIONS", MveText.lines(instructions()))
                .with("LIMITS", limits())
                .text();
    }

    private String limits() {
        return low().map(low -> "      value = value < " + low + "f ? " + low + "f : value;\n")
                        .orElse("")
                + high().map(high -> "      value = value > " + high + "f ? " + high + "f : value;\n")
                        .orElse("");
    }

    private String instructions() {
        StringBuilder out = new StringBuilder();
        start(out);
        if (walk.isOne) {
            run(out);
        } else {
            runs(out);
        }
        end(out);
        return out.toString();
    }

    private void start(StringBuilder out) {
        for (int v = 0; v < block.vectors; v++) {
            out.append(String.format(Locale.ROOT, "vldrw.32 q%d, [r3, #%d]\n", v, 16 * v));
        }
        for (int q = block.vectors; q < block.pixels * block.vectors; q++) {
            out.append(String.format(Locale.ROOT, "vmov q%d, q%d\n", q, q % block.vectors));
        }
        for (int p = 1; p < block.pixels; p++) {
            add(out, input(p), input(p - 1), walk.step);
        }
    }

    private static int input(int pixel) {
        return 1 + 2 * pixel;
    }

    /** Adds a number of floats to a pointer. */
    private static void add(StringBuilder out, int to, int from, int floats) {
        int bytes = Float.BYTES * floats;
        if (Math.abs(bytes) < 4096) {
            out.append(String.format(
                    Locale.ROOT, "%s r%d, r%d, #%d\n", bytes < 0 ? "subw" : "addw", to, from, Math.abs(bytes)));
            return;
        }
        out.append(String.format(
                Locale.ROOT, "movw r0, #%d\nmovt r0, #%d\nadd r%d, r%d, r0\n", bytes & 0xffff, bytes >>> 16, to, from));
    }

    /** All runs; there may be none. Those behind the end of a ring go on at its start. */
    private void runs(StringBuilder out) {
        out.append("cmp r9, #0\nbeq 4f\n3:\n");
        run(out);
        for (int p = 0; p < block.pixels && walk.line != walk.taps; p++) {
            add(out, input(p), input(p), walk.line - walk.taps);
        }
        int skipped = walk.weights - walk.taps * block.channels();
        if (skipped > 0) {
            add(out, 12, 12, skipped);
        }
        if (!isRing()) {
            out.append("subs r9, r9, #1\nbne 3b\n4:\n");
            return;
        }
        out.append("sub r9, r9, #1\nlsls r0, r9, #16\nbne 3b\n");
        for (int p = 0; p < block.pixels; p++) {
            add(out, input(p), input(p), -walk.ring);
        }
        out.append("lsrs r9, r9, #16\nbne 3b\n4:\n");
    }

    private void run(StringBuilder out) {
        int turns = walk.taps / loop.unroll;
        int rest = walk.taps;
        if (turns > 1) {
            out.append(String.format(Locale.ROOT, "movw lr, #%d\ndls lr, lr\n1:\n", turns));
            taps(out, loop.unroll);
            out.append("le lr, 1b\n");
            rest -= turns * loop.unroll;
        }
        taps(out, rest);
    }

    private void taps(StringBuilder out, int count) {
        int rest = count;
        while (rest > 0) {
            boolean isMany = loop.isMany && block.pixels == 1 && rest >= MANY.length;
            int loaded = isMany ? MANY.length : Math.min(rest, 2);
            load(out, loaded);
            for (int k = 0; k < loaded; k++) {
                tap(out, isMany ? MANY : PAIRS, k);
            }
            rest -= loaded;
        }
    }

    /** Loads the next values of each pixel. */
    private void load(StringBuilder out, int count) {
        if (count == MANY.length) {
            out.append("ldm r1!, {r0, r2, r3, r4, r5, r6, r8, r10}\n");
            return;
        }
        for (int p = 0; p < block.pixels; p++) {
            int value = PAIRS[2 * p];
            out.append(
                    count == 2
                            ? String.format(
                                    Locale.ROOT, "ldrd r%d, r%d, [r%d], #8\n", value, PAIRS[2 * p + 1], input(p))
                            : String.format(Locale.ROOT, "ldr r%d, [r%d], #4\n", value, input(p)));
        }
    }

    private void tap(StringBuilder out, int[] values, int k) {
        for (int v = 0; v < block.vectors; v++) {
            int weight = 6 + v % 2;
            out.append(String.format(Locale.ROOT, "vldrw.32 q%d, [r12], #16\n", weight));
            for (int p = 0; p < block.pixels; p++) {
                out.append(String.format(
                        Locale.ROOT, "vfma.f32 q%d, q%d, r%d\n", p * block.vectors + v, weight, values[2 * p + k]));
            }
        }
    }

    private void end(StringBuilder out) {
        low().ifPresent(value -> constant(out, 6, value));
        high().ifPresent(value -> constant(out, 7, value));
        for (int p = 0; p < block.pixels; p++) {
            if (p > 0) {
                add(out, 11, 11, outputs);
            }
            for (int v = 0; v < block.vectors; v++) {
                int q = p * block.vectors + v;
                low().ifPresent(value ->
                        out.append(String.format(Locale.ROOT, "vcmp.f32 gt, q6, q%1$d\nvpsel q%1$d, q6, q%1$d\n", q)));
                high().ifPresent(value ->
                        out.append(String.format(Locale.ROOT, "vcmp.f32 gt, q%1$d, q7\nvpsel q%1$d, q7, q%1$d\n", q)));
                out.append(String.format(Locale.ROOT, "vstrw.32 q%d, [r11, #%d]\n", q, 16 * v));
            }
        }
    }

    private static void constant(StringBuilder out, int q, float value) {
        out.append(String.format(
                Locale.ROOT,
                "movw r0, #%d\nmovt r0, #%d\nvdup.32 q%d, r0\n",
                bits(value) & 0xffff,
                bits(value) >>> 16,
                q));
    }
}
