// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.TflBinaryScales;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.range.ValueRange;
import java.util.List;

/** For which scales the integer arithmetic of an operator is defined. With others the operator stays float. */
final class ScaleLimits {
    private static final float LEAST_OF_FUNCTION = 1f / (1 << 30);
    private static final float MOST_OF_FUNCTION = 2;

    /** The rescaling of 64-bit sums is undefined from 2^14 on; the weights' largest integer is 127, and a large bias may double their scale. */
    private static final double MOST_OF_LAYER = 127.0 * (1 << 13);

    private ScaleLimits() {}

    /**
     * Whether the reference kernel's fixed point represents the scales.
     *
     * @param scales of the operands, then of the output
     */
    static boolean areKept(Node node, Precision precision, List<Float> scales) {
        if (node.op() instanceof Unary unary
                && (unary.kind() == Unary.Kind.SIGMOID || unary.kind() == Unary.Kind.TANH)) {
            return scales.get(0) >= LEAST_OF_FUNCTION && scales.get(0) < MOST_OF_FUNCTION;
        }
        if (node.op() instanceof Softmax softmax) {
            return isSoftmax(softmax, node, precision, scales.get(0));
        }
        if (node.layer().isPresent() && precision == Precision.INT16) {
            float most = ValueRange.of(ScaleGroups.floats(node.weights())).magnitude();
            return (double) most * scales.get(0) / scales.get(1) < MOST_OF_LAYER;
        }
        if (node.op() instanceof Lstm) {
            return KernelAgreement.ofOutput(node, precision, scales);
        }
        return !(node.op() instanceof Binary binary) || isBinary(binary, precision, scales);
    }

    private static boolean isSoftmax(Softmax softmax, Node node, Precision precision, float scale) {
        int row = node.type().shape().dim(-1);
        try {
            if (precision == Precision.INT16) {
                TflInt16Softmax.multiplier(softmax.beta(), scale);
                return row <= TflInt16Softmax.MAX_ROW;
            }
            TflSoftmaxTables.exponentials(softmax.beta(), scale);
            return row <= TflSoftmaxTables.MAX_ROW;
        } catch (IllegalArgumentException beyondFixedPoint) {
            return false;
        }
    }

    private static boolean isBinary(Binary binary, Precision precision, List<Float> scales) {
        float lhs = scales.get(0);
        float rhs = scales.get(1);
        float out = scales.get(2);
        return switch (binary.kind()) {
            case ADD ->
                TflAddParameters.of(precision.activation(), lhs, rhs, out).isBelowOne();
            case SUBTRACT ->
                TflBinaryScales.areDefined(
                        new QnnBinary(QnnBinary.Kind.SUBTRACT), precision.activation(), lhs, rhs, out);
            case SQUARED_DIFFERENCE ->
                // TensorFlow Lite's library ends the process if the multiplier of the squares is 1 or more.
                TflBinaryScales.areDefined(
                                new QnnBinary(QnnBinary.Kind.SQUARED_DIFFERENCE), precision.activation(), lhs, rhs, out)
                        && TflAddParameters.ofSquaredDifference(precision.activation(), lhs, rhs, out)
                                .isBelowOne();
            default -> true;
        };
    }
}
