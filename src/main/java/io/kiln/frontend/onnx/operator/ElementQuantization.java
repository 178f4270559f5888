// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.frontend.onnx.model.ElementType;
import java.util.List;

/**
 * How integers stand for real numbers: {@code (integer - zeroPoint) * scale}. Unsigned integers of 8 and 16 bits count as signed ones, and
 * their zero points are less half of the range, too.
 *
 * @param scales one, or one for each element of an axis
 * @param zeroPoints as many
 * @param axis axis of several scales, from 0
 * @param type element type in the model
 */
public record ElementQuantization(List<Float> scales, List<Integer> zeroPoints, int axis, ElementType type) {
    public ElementQuantization {
        scales = List.copyOf(scales);
        zeroPoints = List.copyOf(zeroPoints);
    }

    /** Whether one scale is for the whole tensor. */
    public boolean isPerTensor() {
        return scales.size() == 1;
    }

    /** Whether all elements have one zero point. */
    public boolean hasOneZeroPoint() {
        return zeroPoints.stream().distinct().count() == 1;
    }

    /** Whether integers are bytes. */
    public boolean isOfBytes() {
        return type == ElementType.INT8 || type == ElementType.UINT8;
    }

    /** Whether integers have 16 bits. */
    public boolean isOfShorts() {
        return type == ElementType.INT16 || type == ElementType.UINT16;
    }

    /** The scale of a whole tensor. */
    public float scale() {
        return scales.get(0);
    }

    /** The zero point of a whole tensor. */
    public int zeroPoint() {
        return zeroPoints.get(0);
    }

    /** Whether the same bytes stand for the same numbers, whatever their sign in the model. */
    public boolean isSame(ElementQuantization other) {
        return isPerTensor() && scales.equals(other.scales) && zeroPoints.equals(other.zeroPoints);
    }

    /** The same integers for numbers that are larger by a factor, in single precision. */
    public ElementQuantization scaled(float factor) {
        return new ElementQuantization(
                scales.stream().map(scale -> factor * scale).toList(), zeroPoints, axis, type);
    }

    /**
     * The integer of a real number, as QuantizeLinear computes it: a quotient in single precision, rounded to even.
     *
     * @param real not NaN
     */
    public int quantize(float real) {
        double steps = Math.rint(real / scale());
        int least = isOfShorts() ? Short.MIN_VALUE : Byte.MIN_VALUE;
        return (int) Math.max(least, Math.min(-1 - least, steps + zeroPoint()));
    }

    /** The real number of an integer. */
    public float dequantize(int integer) {
        return (integer - zeroPoint()) * scale();
    }
}
