// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.DynamicRange;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Binary.Kind;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Lookups.PairLookup;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.function.IntPredicate;

/** Functions of two elements. */
final class BinaryKernels {
    private BinaryKernels() {}

    static Tensor binary(Binary op, List<Tensor> args, TensorType type) {
        Tensor lhs = args.get(0);
        Tensor rhs = args.get(1);
        int[] at = Elementwise.broadcast(lhs.shape(), type.shape());
        int[] by = Elementwise.broadcast(rhs.shape(), type.shape());
        return switch (lhs.type().dtype()) {
            case FLOAT32 ->
                op.kind().isComparison()
                        ? comparisons(type, i -> compare(op.kind(), lhs.floats()[at[i]], rhs.floats()[by[i]]))
                        : Tensor.ofReals(type, i -> real(op.kind(), lhs.floats()[at[i]], rhs.floats()[by[i]]));
            case INT8, UINT8, INT16 ->
                op.kind().isComparison()
                        ? comparisons(type, i -> compare(op.kind(), (long) lhs.ints()[at[i]], rhs.ints()[by[i]]))
                        : Tensor.ofInts(
                                type,
                                i -> narrow(whole(op.kind(), lhs.ints()[at[i]], rhs.ints()[by[i]]), type.dtype()));
            case INT64 ->
                op.kind().isComparison()
                        ? comparisons(type, i -> compare(op.kind(), lhs.longs()[at[i]], rhs.longs()[by[i]]))
                        : Tensor.ofLongs(type, i -> whole(op.kind(), lhs.longs()[at[i]], rhs.longs()[by[i]]));
            default ->
                op.kind().isComparison()
                        ? comparisons(type, i -> compare(op.kind(), (long) lhs.ints()[at[i]], rhs.ints()[by[i]]))
                        : Tensor.ofInts(type, i -> (int) word(op.kind(), lhs.ints()[at[i]], rhs.ints()[by[i]]));
        };
    }

    /** The low bits. */
    private static int narrow(long value, DType dtype) {
        return dtype == DType.INT16 ? (short) value : dtype == DType.INT8 ? (byte) value : (int) (value & 0xFF);
    }

    /** Shifts of 32 bits use 5 bits of the distance. */
    private static long word(Kind kind, int a, int b) {
        return switch (kind) {
            case LEFT_SHIFT -> a << b;
            case RIGHT_SHIFT -> a >> b;
            case POWER -> power(a, b);
            default -> whole(kind, a, b);
        };
    }

    static Tensor fixedPointMultiply(FixedPointMultiply op, List<Tensor> args, TensorType type) {
        int[] data = Elementwise.broadcast(args.get(0).shape(), type.shape());
        int[] multiplier = Elementwise.broadcast(args.get(1).shape(), type.shape());
        int[] shift = Elementwise.broadcast(args.get(FixedPointMultiply.SHIFT).shape(), type.shape());
        return Tensor.ofInts(type, i -> {
            int x = args.get(0).ints()[data[i]];
            int by = args.get(1).ints()[multiplier[i]];
            int left = 31 - args.get(FixedPointMultiply.SHIFT).ints()[shift[i]];
            return (int)
                    (op.rounding() == Rounding.UPWARD
                            ? FixedPoint.multiplyRoundingUpward(x, by, left)
                            : FixedPoint.multiplyRoundingAway(x, by, left));
        });
    }

    private static float real(Kind kind, float a, float b) {
        return switch (kind) {
            case ADD -> a + b;
            case SUBTRACT -> a - b;
            case MULTIPLY -> a * b;
            case DIVIDE -> a / b;
            case MAXIMUM -> a > b ? a : b;
            case MINIMUM -> a < b ? a : b;
            case MAXIMUM_OR_NAN -> a > b || Float.isNaN(a) ? a : b;
            case MINIMUM_OR_NAN -> a < b || Float.isNaN(a) ? a : b;
            case FLOOR_DIVIDE -> (float) Math.floor((double) a / b);
            case FLOOR_MOD -> floorMod(a, b);
            case POWER -> (float) (isOne(a, b) ? 1 : Math.pow(a, b));
            case ATAN2 -> (float) Math.atan2(a, b);
            case SQUARED_DIFFERENCE -> (a - b) * (a - b);
            case QUANTIZATION_SCALE -> DynamicRange.of(a, b).scale();
            case QUANTIZATION_ZERO_POINT -> DynamicRange.of(a, b).zeroPoint();
            case PRELU -> a >= 0 ? a : a * b;
            default -> throw unknown(kind);
        };
    }

    /** Powers of 1 are 1 in C, whatever the exponent, and so are infinite powers of -1. */
    private static boolean isOne(float a, float b) {
        return a == 1 || (a == -1 && Float.isInfinite(b));
    }

    /** Exact up to the limits of int32, since a double holds every such power. */
    private static int power(int a, int b) {
        return (int) Math.pow(a, b);
    }

    private static float floorMod(float a, float b) {
        float rest = a % b;
        return rest != 0 && rest < 0 != b < 0 ? rest + b : rest;
    }

    private static long whole(Kind kind, long a, long b) {
        return switch (kind) {
            case ADD -> a + b;
            case SUBTRACT -> a - b;
            case MULTIPLY -> a * b;
            case DIVIDE -> b == 0 ? 0 : a / b;
            case LEFT_SHIFT -> a << b;
            case RIGHT_SHIFT -> a >> b;
            case MAXIMUM, MAXIMUM_OR_NAN -> Math.max(a, b);
            case MINIMUM, MINIMUM_OR_NAN -> Math.min(a, b);
            case SQUARED_DIFFERENCE -> (a - b) * (a - b);
            case LOGICAL_AND, BITWISE_AND -> a & b;
            case LOGICAL_OR, BITWISE_OR -> a | b;
            case BITWISE_XOR -> a ^ b;
            default -> throw unknown(kind);
        };
    }

    private static boolean compare(Kind kind, long a, long b) {
        return holds(kind, a < b, a == b, a > b);
    }

    /** Primitive comparisons: NaN is not equal to anything, and 0 equals -0. */
    private static boolean compare(Kind kind, float a, float b) {
        return holds(kind, a < b, a == b, a > b);
    }

    private static boolean holds(Kind kind, boolean isLess, boolean isEqual, boolean isGreater) {
        return switch (kind) {
            case EQUAL -> isEqual;
            case NOT_EQUAL -> !isEqual;
            case LESS -> isLess;
            case LESS_EQUAL -> isLess || isEqual;
            case GREATER -> isGreater;
            case GREATER_EQUAL -> isGreater || isEqual;
            default -> throw unknown(kind);
        };
    }

    private static IllegalArgumentException unknown(Kind kind) {
        return new IllegalArgumentException("no such function of these elements: " + kind);
    }

    private static Tensor comparisons(TensorType type, IntPredicate holds) {
        return Tensor.ofInts(type, i -> holds.test(i) ? 1 : 0);
    }

    static Tensor pairs(PairLookup op, List<Tensor> args, TensorType type) {
        int[] lhs = args.get(0).ints();
        int[] rhs = args.get(1).ints();
        int[] lhsIndex = Elementwise.broadcast(args.get(0).shape(), type.shape());
        int[] rhsIndex = Elementwise.broadcast(args.get(1).shape(), type.shape());
        int[] places = new int[lhsIndex.length];
        for (int i = 0; i < places.length; i++) {
            places[i] = (lhs[lhsIndex[i]] - Byte.MIN_VALUE) * PairLookup.SIZE + rhs[rhsIndex[i]] - Byte.MIN_VALUE;
        }
        return args.get(2).gather(places, type);
    }
}
