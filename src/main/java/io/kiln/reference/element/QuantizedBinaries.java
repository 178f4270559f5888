// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflQuotient;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.function.IntBinaryOperator;

/** Functions of two or more quantized elements. */
final class QuantizedBinaries {
    /** Bits by which comparisons shift left before they rescale. */
    private static final int COMPARISON_SHIFT = 8;

    private QuantizedBinaries() {}

    static Tensor binary(QnnBinary op, List<Tensor> args, TensorType type) {
        int[] lhs = args.get(0).ints();
        int[] rhs = args.get(1).ints();
        int lhsZero = args.get(3).scalarInt();
        int rhsZero = args.get(5).scalarInt();
        int[] at = Elementwise.broadcast(args.get(0).shape(), type.shape());
        int[] by = Elementwise.broadcast(args.get(1).shape(), type.shape());
        IntBinaryOperator function = op.kind().isComparison() ? comparison(op, args) : arithmetic(op, args);
        long outZero = op.kind().isComparison() ? 0 : args.get(7).scalarInt();
        int[] result = new int[at.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = FixedPoint.clamp(
                    function.applyAsInt(lhs[at[i]] - lhsZero, rhs[by[i]] - rhsZero) + outZero,
                    type.dtype().min(),
                    type.dtype().max());
        }
        return Tensor.of(type, result);
    }

    private static IntBinaryOperator arithmetic(QnnBinary op, List<Tensor> args) {
        float lhs = args.get(2).scalarFloat();
        float rhs = args.get(4).scalarFloat();
        float out = args.get(6).scalarFloat();
        return switch (op.kind()) {
            case SUBTRACT -> {
                TflAddParameters by = op.ofDifference(args.get(0).type().dtype(), lhs, rhs, out);
                yield (x, y) -> by.scaleOutput(by.scaleLhs(x) - by.scaleRhs(y));
            }
            case SQUARED_DIFFERENCE -> {
                TflAddParameters by =
                        TflAddParameters.ofSquaredDifference(args.get(0).type().dtype(), lhs, rhs, out);
                yield (x, y) -> {
                    int difference = by.scaleLhs(x) - by.scaleRhs(y);
                    return by.scaleOutput(difference * difference);
                };
            }
            case MULTIPLY -> {
                QuantizedMultiplier by = op.multiplier(lhs, rhs, out);
                yield (x, y) -> rescale(x * y, by);
            }
            case PRELU -> {
                QuantizedMultiplier positive = op.multiplier(lhs, 1, out);
                QuantizedMultiplier negative = op.multiplier(lhs, rhs, out);
                yield (x, y) -> x >= 0 ? rescale(x, positive) : rescale(x * y, negative);
            }
            case DIVIDE -> {
                TflQuotient quotient = TflQuotient.of(lhs, rhs, out);
                yield quotient::apply;
            }
            default -> throw new IllegalArgumentException(op.name() + " is a comparison");
        };
    }

    private static IntBinaryOperator comparison(QnnBinary op, List<Tensor> args) {
        QuantizedMultiplier lhs = QuantizedMultiplier.of(args.get(2).scalarFloat());
        QuantizedMultiplier rhs = QuantizedMultiplier.of(args.get(4).scalarFloat());
        return (x, y) -> {
            int a = rescale(x << COMPARISON_SHIFT, lhs);
            int b = rescale(y << COMPARISON_SHIFT, rhs);
            boolean holds = switch (op.kind()) {
                case EQUAL -> a == b;
                case NOT_EQUAL -> a != b;
                case LESS -> a < b;
                case LESS_EQUAL -> a <= b;
                case GREATER -> a > b;
                case GREATER_EQUAL -> a >= b;
                default -> throw new IllegalArgumentException(op.name() + " is not a comparison");
            };
            return holds ? 1 : 0;
        };
    }

    static Tensor addN(TflAddN op, List<Tensor> args, TensorType type) {
        int[] result = new int[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            int sum = -(op.count() + 1) * op.inputZeroPoint();
            for (Tensor arg : args) {
                sum += arg.ints()[i];
            }
            result[i] = FixedPoint.clamp(
                    (long) rescale(sum * TflAddN.STEP, op.by()) + op.outputZeroPoint(),
                    type.dtype().min(),
                    type.dtype().max());
        }
        return Tensor.of(type, result);
    }

    private static int rescale(int value, QuantizedMultiplier by) {
        return FixedPoint.multiplyByQuantizedMultiplier(value, by.multiplier(), by.shift());
    }
}
