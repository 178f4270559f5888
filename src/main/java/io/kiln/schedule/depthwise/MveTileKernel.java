// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.kernels.depthwise.Jtemve_tileGenerated;
import io.kiln.schedule.convolution.MveEpilogue;
import io.kiln.tir.Kernel;

/**
 * The kernel {@code depthwise/mve_tile} of {@link MveTileDepthwise}: four results of a channel from one patch of its input.
 *
 * @param vectors of 16 bytes under the windows of two by two results
 * @param even whether each vector's words are as far from one another as the first one's, and vectors equally far apart
 * @param every output channels of an input channel, of which one is computed: 1, 2 or 4
 * @param end how sums become results, by TensorFlow Lite's steps
 * @param isFull whether the limits are those of int8
 */
public record MveTileKernel(int vectors, boolean even, int every, MveEpilogue end, boolean isFull) {
    /** Whether results must be compared with limits. */
    public boolean isLimited() {
        return !isFull && hasLimits();
    }

    /** Whether saturation to int8 does it, by way of 16 bits. */
    public boolean isWide() {
        return isFull && hasLimits();
    }

    private boolean hasLimits() {
        return end.any() || end.limits();
    }

    /** Whether one vector of places is enough for several vectors of words. */
    public boolean isEven() {
        return even && vectors > 1;
    }

    /** Words of a channel's constants. */
    public int constants() {
        return end.any() ? 5 : 3;
    }

    /** Words of a channel's weights: those of one vector are moved to the other results in registers. */
    public int weightWords() {
        return vectors == 1 ? 5 : 16 * vectors;
    }

    /** {@code (x, offsets, packed, out, pixels, channels, pixel, second, lanes, zero_point, low, high)}. */
    Kernel kernel() {
        String name = "kiln_mve_depthwise_tile" + (vectors == 1 ? "" : "_words" + 4 * vectors + (even ? "" : "_listed"))
                + (every == 1 ? "" : "_every" + every) + end.suffix() + (isWide() ? "_wide" : "");
        return MveDepthwiseKernel.kernel(
                name, 8, end, (out, html) -> Jtemve_tileGenerated.render(out, html, name, this));
    }
}
