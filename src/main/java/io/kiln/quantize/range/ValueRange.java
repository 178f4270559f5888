// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

/**
 * The range of a value.
 *
 * @param min smallest value
 * @param max largest value, not below {@code min}
 */
public record ValueRange(float min, float max) {
    /** The range that nothing is in; the union with it is the other range. */
    public static final ValueRange EMPTY = new ValueRange(Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY);

    /** The range of some numbers, {@link #EMPTY} without any; NaN makes it infinite. */
    public static ValueRange of(float[] values) {
        float min = Float.POSITIVE_INFINITY;
        float max = Float.NEGATIVE_INFINITY;
        for (float value : values) {
            min = Math.min(min, value);
            max = Math.max(max, value);
        }
        return Float.isNaN(min)
                ? new ValueRange(Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY)
                : new ValueRange(min, max);
    }

    /** The smallest range that holds both. */
    public ValueRange union(ValueRange other) {
        return new ValueRange(Math.min(min, other.min), Math.max(max, other.max));
    }

    /** The part of this range that lies in another. */
    public ValueRange within(ValueRange other) {
        float low = Math.max(min, other.min);
        float high = Math.min(max, other.max);
        return new ValueRange(low, high);
    }

    /** The smallest range that holds this one and 0. */
    public ValueRange withZero() {
        return new ValueRange(Math.min(min, 0), Math.max(max, 0));
    }

    /** Whether both ends and the distance between them are finite; not so for {@link #EMPTY}. */
    public boolean isFinite() {
        return Float.isFinite(max - min);
    }

    /** The largest magnitude. */
    public float magnitude() {
        return Math.max(Math.abs(min), Math.abs(max));
    }
}
