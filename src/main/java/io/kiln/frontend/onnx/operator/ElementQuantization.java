// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Constant;
import java.util.Collections;
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

    /** Whether scale and zero point are known at build time. */
    public static boolean areConstant(NodeContext node, int scale, int zeroPoint) {
        return node.arg(scale) instanceof Constant && (!node.has(zeroPoint) || node.arg(zeroPoint) instanceof Constant);
    }

    /**
     * Constant parameters; a missing zero point is 0.
     *
     * @param scale index of the input with the scales
     * @param zeroPoint index of the input with the zero points
     * @param axis axis of several scales, from 0
     * @param type of the quantized elements
     */
    public static ElementQuantization read(NodeContext node, int scale, int zeroPoint, int axis, ElementType type) {
        List<Float> scales = node.reals(scale, "scale");
        node.require(
                !scales.isEmpty() && scales.stream().allMatch(s -> s > 0 && Float.isFinite(s)),
                "its scales are " + scales,
                "finite numbers above 0");
        boolean isShifted = type == ElementType.UINT8 || type == ElementType.UINT16;
        int shift = isShifted ? 1 << (type.bits() - 1) : 0;
        List<Integer> zeroPoints = node.has(zeroPoint)
                ? node.integers(zeroPoint, "zero point").stream()
                        .map(z -> Math.toIntExact(z) - shift)
                        .toList()
                : Collections.nCopies(scales.size(), -shift);
        node.require(
                zeroPoints.size() == scales.size(),
                "it has " + scales.size() + " scales and " + zeroPoints.size() + " zero points",
                "as many of both");
        return new ElementQuantization(scales, zeroPoints, axis, type);
    }

    /** Parameters of the whole tensor, for an operator that takes no others. */
    public static ElementQuantization readOne(NodeContext node, int scale, int zeroPoint, ElementType type) {
        ElementQuantization read = read(node, scale, zeroPoint, 0, type);
        node.require(read.isPerTensor(), "it has " + read.scales().size() + " scales", "one for the whole tensor");
        node.require(read.isOfBytes(), "its elements are " + type.text(), "int8 or uint8");
        return read;
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
