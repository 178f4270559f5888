// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import java.util.function.LongUnaryOperator;

/**
 * A range of integers, both ends included.
 *
 * @param low the smallest
 * @param high the largest
 */
record Range(long low, long high) {
    /** All values of an integer type. */
    static Range whole(DType dtype) {
        return new Range(dtype.min(), dtype.max());
    }

    static Range point(long value) {
        return new Range(value, value);
    }

    boolean isPoint() {
        return low == high;
    }

    boolean fits(DType dtype) {
        return low >= dtype.min() && high <= dtype.max();
    }

    /** This range if the type can hold it; otherwise the type's full range, because the value wraps around. */
    Range orWhole(DType dtype) {
        return fits(dtype) ? this : whole(dtype);
    }

    Range plus(Range other) {
        return new Range(low + other.low, high + other.high);
    }

    Range plus(long value) {
        return new Range(low + value, high + value);
    }

    /** The products with a factor of either sign. */
    Range times(long factor) {
        return image(x -> x * factor);
    }

    /** The smallest range around both. */
    Range hull(Range other) {
        return new Range(Math.min(low, other.low), Math.max(high, other.high));
    }

    /** The image of the range under a monotone function. */
    Range image(LongUnaryOperator monotone) {
        return point(monotone.applyAsLong(low)).hull(point(monotone.applyAsLong(high)));
    }

    /**
     * {@link FixedPoint#multiplyByQuantizedMultiplier} over the range. It is monotone unless the argument or its left
     * shift wraps around; then the result is the full range of 32 bits.
     */
    Range rescaled(int multiplier, int shift) {
        boolean defined = Math.abs((long) shift) <= 31 && fits(DType.INT32);
        if (!defined || !times(1L << Math.max(shift, 0)).fits(DType.INT32)) {
            return whole(DType.INT32);
        }
        return image(x -> FixedPoint.multiplyByQuantizedMultiplier((int) x, multiplier, shift));
    }
}
