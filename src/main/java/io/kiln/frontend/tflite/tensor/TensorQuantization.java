// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.ir.Quantization;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;

/** Quantization of a tensor in the file, checked against the tensor's type and shape. */
public final class TensorQuantization {
    static final TensorQuantization NONE = new TensorQuantization(new float[0], new int[0], 0);

    private final float[] scales;
    private final int[] zeroPoints;
    private final int dimension;

    /**
     * Takes ownership of the arrays.
     *
     * @param scales one, or one per channel; empty for a tensor that is not quantized
     * @param zeroPoints as many as scales
     * @param dimension the channel dimension if there are several scales
     */
    TensorQuantization(float[] scales, int[] zeroPoints, int dimension) {
        this.scales = scales;
        this.zeroPoints = zeroPoints;
        this.dimension = dimension;
    }

    public boolean isPresent() {
        return scales.length > 0;
    }

    public boolean isPerTensor() {
        return scales.length == 1;
    }

    /** Whether it has one scale, or the same for each channel. */
    public boolean hasEqualScales() {
        return IntStream.range(1, scales.length).allMatch(i -> scales[i] == scales[0]);
    }

    public int scaleCount() {
        return scales.length;
    }

    public int dimension() {
        return dimension;
    }

    /** The scale of a channel, whether there is one scale or many. */
    public float scale(int channel) {
        return scales[isPerTensor() ? 0 : channel];
    }

    /** The zero point of a channel, whether there is one or many. */
    public int zeroPoint(int channel) {
        return zeroPoints[isPerTensor() ? 0 : channel];
    }

    public int zeroPoint() {
        return zeroPoints[0];
    }

    /** Whether every channel's zero point is 0. */
    public boolean isSymmetric() {
        for (int zeroPoint : zeroPoints) {
            if (zeroPoint != 0) {
                return false;
            }
        }
        return true;
    }

    /** The same scales, with a number added to each zero point. */
    TensorQuantization shifted(long by) {
        int[] moved =
                Arrays.stream(zeroPoints).map(z -> Math.toIntExact(z + by)).toArray();
        return new TensorQuantization(scales, moved, dimension);
    }

    public Optional<Quantization> affine() {
        return isPerTensor() ? Optional.of(new Quantization(scales[0], zeroPoints[0])) : Optional.empty();
    }
}
