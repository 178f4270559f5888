// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflQuotient;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Lookups.PairLookup;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.Lookups.TflLookup16;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.Map;
import java.util.function.IntBinaryOperator;

/** Kernels of element-wise operators: conversions between types, selections, and functions of two or more quantized elements. */
public final class ElementwiseKernels {
    /** Bits by which comparisons shift left before they rescale. */
    private static final int COMPARISON_SHIFT = 8;

    private static final float TWO_TO_63 = 0x1p63f;

    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Unary.class, UnaryKernels::unary),
            pure(LeakyRelu.class, UnaryKernels::leakyRelu),
            pure(PairLookup.class, BinaryKernels::pairs),
            pure(TflLookup.class, UnaryKernels::lookup),
            pure(TflLookup16.class, UnaryKernels::interpolated),
            pure(TflSigmoid16.class, UnaryKernels::sigmoid),
            pure(TflLeakyRelu.class, UnaryKernels::leakyRelu),
            pure(Cast.class, ElementwiseKernels::cast),
            pure(Reinterpret.class, ElementwiseKernels::reinterpret),
            pure(Binary.class, BinaryKernels::binary),
            pure(QnnBinary.class, ElementwiseKernels::binary),
            pure(TflAddN.class, ElementwiseKernels::addN),
            pure(FixedPointMultiply.class, BinaryKernels::fixedPointMultiply),
            pure(Where.class, ElementwiseKernels::where),
            pure(Full.class, ElementwiseKernels::full));

    private ElementwiseKernels() {}

    private static Tensor cast(Cast op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        if (op.dtype().isFloat()) {
            return Tensor.ofReals(type, i -> data.isFloat() ? data.floats()[i] : real(data, i));
        }
        if (op.dtype().isLong()) {
            return Tensor.ofLongs(
                    type, i -> data.isFloat() ? truncatedLong(data.floats()[i], op.dtype()) : integer(data, i));
        }
        return Tensor.ofInts(type, i -> {
            long value = data.isFloat() ? truncated(data.floats()[i], op.dtype()) : integer(data, i);
            return switch (op.dtype()) {
                case INT8 -> (byte) value;
                case UINT8 -> (int) (value & 0xFF);
                case INT16 -> (short) value;
                default -> (int) value;
            };
        });
    }

    /** The same bits. */
    private static Tensor reinterpret(Reinterpret op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        return op.dtype().isFloat()
                ? Tensor.ofReals(type, i -> Float.intBitsToFloat(data.ints()[i]))
                : Tensor.ofInts(type, i -> Float.floatToRawIntBits(data.floats()[i]));
    }

    /** Truncated towards zero; NaN becomes 0. */
    private static long truncated(float value, DType dtype) {
        return dtype == DType.UINT32 ? Math.max(0, Math.min(DType.UINT32.max(), (long) value)) : (int) value;
    }

    private static long truncatedLong(float value, DType dtype) {
        if (dtype == DType.UINT64 && value >= TWO_TO_63) {
            return value >= 2 * TWO_TO_63 ? -1 : (long) (value - TWO_TO_63) + Long.MIN_VALUE;
        }
        return dtype == DType.UINT64 && value < 0 ? 0 : (long) value;
    }

    private static float real(Tensor data, int index) {
        long value = integer(data, index);
        boolean isBeyond = data.type().dtype() == DType.UINT64 && value < 0;
        return isBeyond ? 2 * (float) (value >>> 1 | (value & 1)) : value;
    }

    private static long integer(Tensor data, int index) {
        if (data.type().dtype().isLong()) {
            return data.longs()[index];
        }
        int value = data.ints()[index];
        return data.type().dtype() == DType.UINT32 ? Integer.toUnsignedLong(value) : value;
    }

    private static Tensor where(Where op, List<Tensor> args, TensorType type) {
        int[] conditions = args.get(0).ints();
        int[] at = Elementwise.broadcast(args.get(0).shape(), type.shape());
        Tensor x = args.get(1).gather(Elementwise.broadcast(args.get(1).shape(), type.shape()), type);
        Tensor y = args.get(2).gather(Elementwise.broadcast(args.get(2).shape(), type.shape()), type);
        if (type.dtype().isFloat()) {
            return Tensor.ofReals(type, i -> (conditions[at[i]] != 0 ? x : y).floats()[i]);
        }
        return type.dtype().isLong()
                ? Tensor.ofLongs(type, i -> (conditions[at[i]] != 0 ? x : y).longs()[i])
                : Tensor.ofInts(type, i -> (conditions[at[i]] != 0 ? x : y).ints()[i]);
    }

    private static Tensor full(Full op, List<Tensor> args, TensorType type) {
        return args.get(0).gather(new int[Math.toIntExact(type.shape().elements())], type);
    }

    private static Tensor binary(QnnBinary op, List<Tensor> args, TensorType type) {
        int[] lhs = args.get(0).ints();
        int[] rhs = args.get(1).ints();
        int lhsZero = args.get(3).scalarInt();
        int rhsZero = args.get(5).scalarInt();
        int[] at = Elementwise.broadcast(args.get(0).shape(), type.shape());
        int[] by = Elementwise.broadcast(args.get(1).shape(), type.shape());
        IntBinaryOperator function = op.kind().isComparison() ? comparison(op, args) : arithmetic(op, args);
        long outZero = op.kind().isComparison() ? 0 : args.get(7).scalarInt();
        return Tensor.ofLimited(type, i -> function.applyAsInt(lhs[at[i]] - lhsZero, rhs[by[i]] - rhsZero) + outZero);
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

    private static Tensor addN(TflAddN op, List<Tensor> args, TensorType type) {
        return Tensor.ofLimited(type, i -> {
            int sum = -(op.count() + 1) * op.inputZeroPoint();
            for (Tensor arg : args) {
                sum += arg.ints()[i];
            }
            return (long) rescale(sum * TflAddN.STEP, op.by()) + op.outputZeroPoint();
        });
    }

    private static int rescale(int value, QuantizedMultiplier by) {
        return FixedPoint.multiplyByQuantizedMultiplier(value, by.multiplier(), by.shift());
    }
}
