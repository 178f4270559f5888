// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * The source pixels of a resized image along one dimension (resize_nearest_neighbor.h, resize_bilinear.h of the
 * reference kernels).
 *
 * @param in size of the data
 * @param out size of the result
 */
public record ResizeCoordinates(int in, int out, boolean alignCorners, boolean halfPixelCenters) {
    /** One pixel in units of 2^-10 pixels. */
    public static final int ONE = 1 << 10;

    private float scale() {
        return alignCorners && out > 1 ? (in - 1) / (float) (out - 1) : in / (float) out;
    }

    /** Index of the nearest pixel for each pixel of the result. */
    public int[] nearest() {
        return each(i -> {
            float at = (i + (halfPixelCenters ? 0.5f : 0f)) * scale();
            int index = alignCorners ? (int) Math.floor(at + 0.5) : (int) Math.floor(at);
            return Math.max(0, Math.min(index, in - 1));
        });
    }

    /** Positions in units of 2^-10, in integer arithmetic. */
    public int[] positions() {
        int scale = alignCorners && out > 1 ? (ONE * (in - 1) + (out - 1) / 2) / (out - 1) : (ONE * in + out / 2) / out;
        return each(i -> i * scale + (halfPixelCenters ? scale / 2 - ONE / 2 : 0));
    }

    /** The pixels before integer positions. */
    public int[] lower() {
        int[] positions = positions();
        return each(i -> Math.max(0, Math.min(positions[i] / ONE, in - 1)));
    }

    /** The pixels after integer positions. */
    public int[] upper() {
        int[] positions = positions();
        return each(i -> Math.min((positions[i] + ONE - 1) / ONE, in - 1));
    }

    /** Position of a pixel of the result, as floats compute it. */
    public float realPosition(int i) {
        return halfPixelCenters ? (i + 0.5f) * scale() - 0.5f : i * scale();
    }

    /** The pixel before a real position. */
    public int realLower(int i) {
        return Math.max(0, Math.min((int) Math.floor(realPosition(i)), in - 1));
    }

    /** The pixel behind a real position. */
    public int realUpper(int i) {
        return Math.min((int) Math.ceil(realPosition(i)), in - 1);
    }

    private int[] each(IntUnaryOperator value) {
        return IntStream.range(0, out).map(value).toArray();
    }
}
