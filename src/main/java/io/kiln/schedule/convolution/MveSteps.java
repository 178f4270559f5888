// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

/**
 * The inner loop {@code convolution/mve_steps} of a matrix product on MVE.
 *
 * @param set instructions
 * @param pixels 1 or 2
 * @param channels at most 8 for one pixel and 4 for two
 * @param unroll steps in the loop, if there are more than this
 * @param isPipelined whether a step loads for the next one; only for two pixels and four channels
 * @param isPacked whether a byte holds a weight of each of two channels, that of the first in its lower half; only for bytes. The sums of
 *     the first, third and so on are then 16 times too large
 */
public record MveSteps(Instructions set, int pixels, int channels, int unroll, boolean isPipelined, boolean isPacked) {
    /** Steps whose weights are not packed. */
    public MveSteps(Instructions set, int pixels, int channels, int unroll, boolean isPipelined) {
        this(set, pixels, channels, unroll, isPipelined, false);
    }

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
}
