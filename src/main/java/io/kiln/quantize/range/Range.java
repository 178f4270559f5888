// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

/**
 * The range of a value.
 *
 * @param min smallest value
 * @param max largest value, not below {@code min}
 */
public record Range(float min, float max) {
    /** The range that nothing is in; the union with it is the other range. */
    public static final Range EMPTY = new Range(Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY);

    /** The range of some numbers, {@link #EMPTY} without any; NaN makes it infinite. */
    public static Range of(float[] values) {
        float min = Float.POSITIVE_INFINITY;
        float max = Float.NEGATIVE_INFINITY;
        for (float value : values) {
            min = Math.min(min, value);
            max = Math.max(max, value);
        }
        return Float.isNaN(min) ? new Range(Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY) : new Range(min, max);
    }

    /** The smallest range that holds both. */
    public Range union(Range other) {
        return new Range(Math.min(min, other.min), Math.max(max, other.max));
    }

    /** The part of this range that lies in another. */
    public Range within(Range other) {
        float low = Math.max(min, other.min);
        float high = Math.min(max, other.max);
        return new Range(low, high);
    }

    /** The smallest range that holds this one and 0. */
    public Range withZero() {
        return new Range(Math.min(min, 0), Math.max(max, 0));
    }

    /** Whether both ends are finite and it is not {@link #EMPTY}. */
    public boolean isFinite() {
        return Float.isFinite(min) && Float.isFinite(max);
    }

    /** The largest magnitude. */
    public float magnitude() {
        return Math.max(Math.abs(min), Math.abs(max));
    }
}
