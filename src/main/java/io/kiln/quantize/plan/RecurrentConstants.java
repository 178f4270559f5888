// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.range.ValueRange;
import java.util.ArrayList;
import java.util.List;

/**
 * The constants of a long short-term memory layer in integers (TensorFlow Lite, operator_property.cc and quantize_model.cc): weights of int8
 * with one scale per matrix and 127 steps, biases of int32 with the scale of the products that they are added to, a cell of int16 whose scale
 * is a power of two.
 *
 * @param all weights of the data, of the hidden state, and biases, in the order of the operator's arguments
 * @param cellScale the power of two
 */
public record RecurrentConstants(List<Scaled> all, float cellScale) {
    /**
     * A constant.
     *
     * @param integers int8 or int32, zero point 0
     */
    public record Scaled(Constant integers, float scale) {}

    private static final int LARGEST = 127;
    private static final float NO_WEIGHTS = 1e-6f;

    /** Bits of an int16 without its sign. */
    private static final int CELL_BITS = 15;

    /** Most integer bits of a cell for which the kernel has a hyperbolic tangent. */
    private static final int MOST_INTEGER_BITS = 6;

    /** Largest magnitude of a cell. */
    static final int MOST_CELL = 1 << MOST_INTEGER_BITS;

    public RecurrentConstants {
        all = List.copyOf(all);
    }

    /** The constants of a node whose constants are known. */
    public static List<Constant> constants(Node node) {
        return node.args().subList(Lstm.INPUT_WEIGHTS, Lstm.HIDDEN).stream()
                .map(Constant.class::cast)
                .toList();
    }

    /** Whether weights and biases are constants. */
    public static boolean areKnown(Node node) {
        return node.args().subList(Lstm.INPUT_WEIGHTS, Lstm.HIDDEN).stream().allMatch(Constant.class::isInstance);
    }

    /** Whether the layer's constants are known, and its sums of integers fit 32 bits. */
    static boolean isPossible(Node node, int mostProducts) {
        return areKnown(node)
                && node.argTypes().get(Lstm.INPUT_WEIGHTS).shape().dim(1) <= mostProducts
                && node.argTypes().get(Lstm.RECURRENT_WEIGHTS).shape().dim(1) <= mostProducts;
    }

    /** The variable that holds the cell. */
    static int cell(Node node) {
        return ((Arg.Ref) node.args().get(Lstm.CELL)).id();
    }

    /** Whether the kernel's fixed point holds a cell of this range, and its limit is a step or more. */
    static boolean isCell(Lstm op, ValueRange range) {
        return range.withZero().magnitude() <= MOST_CELL && (op.cellClip() == 0 || op.cellClip() >= cellScale(range));
    }

    /** The least power of two with which an int16 holds the range: from 2^-15 to 2^-9. */
    private static float cellScale(ValueRange range) {
        float most = range.withZero().magnitude();
        int bits = 0;
        while (bits < MOST_INTEGER_BITS && most > 1 << bits) {
            bits++;
        }
        return Math.scalb(1f, bits - CELL_BITS);
    }

    /**
     * Quantizes the constants.
     *
     * @param inputScale scale of the data
     * @param cell range of the cell
     */
    static RecurrentConstants of(Node node, float inputScale, ValueRange cell) {
        List<Constant> constants = constants(node);
        List<Scaled> all = new ArrayList<>();
        for (int i = 0; i < 2 * Lstm.GATES; i++) {
            float most = largest(constants.get(i));
            if (i < Lstm.GATES) {
                float bias = largest(constants.get(2 * Lstm.GATES + i));
                most = Math.max(most, 2 * bias / Integer.MAX_VALUE * LARGEST / inputScale);
            }
            all.add(weights(constants.get(i), most));
        }
        for (int i = 0; i < Lstm.GATES; i++) {
            all.add(bias(constants.get(2 * Lstm.GATES + i), inputScale * all.get(i).scale));
        }
        return new RecurrentConstants(all, cellScale(cell));
    }

    private static Scaled weights(Constant real, float most) {
        float inverse = most == 0 ? 0 : LARGEST / most;
        Constant integers =
                QuantizedConstants.limited(real, DType.INT8, -LARGEST, LARGEST, i -> real.real(i) * inverse);
        return new Scaled(integers, most == 0 ? NO_WEIGHTS : Math.max(most / LARGEST, Float.MIN_NORMAL));
    }

    private static Scaled bias(Constant real, float scale) {
        Constant integers = QuantizedConstants.limited(
                real, DType.INT32, -Integer.MAX_VALUE, Integer.MAX_VALUE, i -> real.real(i) / (double) scale);
        return new Scaled(integers, scale);
    }

    private static float largest(Constant constant) {
        return ValueRange.of(ScaleGroups.floats(constant)).magnitude();
    }
}
