// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import java.util.Locale;

/**
 * The inner loop of a matrix product on MVE: in each step a vector of inputs of one or two pixels times a vector of weights of each channel,
 * added to accumulators in core registers.
 *
 * <pre>
 *   q4, q5   inputs of the pixels, at r1 and r3        q0-q3    weights of the channels in turn, at r5
 *   r0 r2 r4 r6 accumulators of the first pixel, r8 r10 r12 lr of the second or of four more channels; r11 count
 * </pre>
 *
 * <p>A vector instruction keeps its pipeline busy for two cycles, so that a load costs nothing if it follows a multiplication. In a step of two
 * pixels times four channels as it is written the loads of inputs follow each other, and multiplications wait for each other; pipelined steps load
 * for the next one between multiplications, and only these take time.
 *
 * @param set instructions
 * @param pixels 1 or 2
 * @param channels at most 8 for one pixel and 4 for two
 * @param unroll steps in the loop, if there are more than this
 * @param isPipelined whether a step loads for the next one; only for two pixels and four channels
 */
public record MveSteps(Instructions set, int pixels, int channels, int unroll, boolean isPipelined) {
    private static final int[] ACCUMULATORS = {0, 2, 4, 6, 8, 10, 12, 14};

    /**
     * Instructions without their operands.
     *
     * @param input loads inputs
     * @param weight loads weights
     * @param weightBytes of a vector
     * @param multiply starts accumulators with products
     * @param accumulate adds products to accumulators
     */
    public record Instructions(String input, String weight, int weightBytes, String multiply, String accumulate) {
        /** Adding only. */
        public static Instructions adding(String input, String weight, int weightBytes, String accumulate) {
            return new Instructions(input, weight, weightBytes, accumulate, accumulate);
        }
    }

    /** Whether there are pipelined steps. */
    public static boolean canPipeline(int pixels, int channels) {
        return pixels == 2 && channels == 4;
    }

    /**
     * Appends steps.
     *
     * @param count their number
     * @param starts whether the first one starts the accumulators
     */
    public void emit(StringBuilder out, int count, boolean starts) {
        if (count == 0) {
            return;
        }
        if (isPipelined) {
            input(out, 0);
            input(out, 1);
            weight(out, 0);
        }
        int rest = count;
        if (starts) {
            step(out, false, rest > 1);
            rest--;
        }
        int inLoops = isPipelined ? rest - 1 : rest;
        if (count > unroll && inLoops >= unroll) {
            int iterations = inLoops / unroll;
            out.append("movw r11, #").append(iterations).append("\n2:\n");
            for (int i = 0; i < unroll; i++) {
                step(out, true, true);
            }
            out.append("subs r11, r11, #1\nbne 2b\n");
            rest -= iterations * unroll;
        }
        for (; rest > 0; rest--) {
            step(out, true, rest > 1);
        }
    }

    private void step(StringBuilder out, boolean isAdded, boolean isFollowed) {
        if (isPipelined) {
            pipelined(out, isAdded, isFollowed);
            return;
        }
        for (int p = 0; p < pixels; p++) {
            input(out, p);
        }
        for (int c = 0; c < channels; c++) {
            weight(out, c);
            for (int p = 0; p < pixels; p++) {
                product(out, isAdded, c, p);
            }
        }
    }

    /** Both inputs and the first weights are loaded already. */
    private void pipelined(StringBuilder out, boolean isAdded, boolean isFollowed) {
        product(out, isAdded, 0, 0);
        weight(out, 1);
        product(out, isAdded, 0, 1);
        weight(out, 2);
        product(out, isAdded, 1, 0);
        weight(out, 3);
        product(out, isAdded, 1, 1);
        if (isFollowed) {
            weight(out, 0);
        }
        product(out, isAdded, 2, 0);
        product(out, isAdded, 2, 1);
        product(out, isAdded, 3, 0);
        if (isFollowed) {
            input(out, 0);
        }
        product(out, isAdded, 3, 1);
        if (isFollowed) {
            input(out, 1);
        }
    }

    private void input(StringBuilder out, int pixel) {
        out.append(String.format(Locale.ROOT, "%s q%d, [r%d], #16\n", set.input, 4 + pixel, 1 + 2 * pixel));
    }

    private void weight(StringBuilder out, int channel) {
        out.append(String.format(Locale.ROOT, "%s q%d, [r5], #%d\n", set.weight, channel % 4, set.weightBytes));
    }

    private void product(StringBuilder out, boolean isAdded, int channel, int pixel) {
        String multiply = isAdded ? set.accumulate : set.multiply;
        int accumulator = ACCUMULATORS[pixel * 4 + channel];
        out.append(String.format(Locale.ROOT, "%s r%d, q%d, q%d\n", multiply, accumulator, channel % 4, 4 + pixel));
    }

    /** A step whose loads and multiplications are predicated, behind VCTP: what is not loaded is 0. */
    public void predicated(StringBuilder out, boolean isAdded) {
        out.append(pixels == 2 ? "vpstt\n" : "vpst\n");
        Instructions masked =
                new Instructions(predicated(set.input), set.weight, set.weightBytes, set.multiply, set.accumulate);
        new MveSteps(masked, pixels, channels, unroll, false).step(out, isAdded, false);
    }

    /** Such as {@code vldrbt.8} for {@code vldrb.8}. */
    private static String predicated(String load) {
        return load.replaceFirst("\\.", "t.");
    }
}
