// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.ir.op.Binary;
import io.kiln.ir.op.Binary.Kind;
import io.kiln.ir.type.TensorType;
import java.util.List;

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
                        : reals(type, i -> real(op.kind(), lhs.floats()[at[i]], rhs.floats()[by[i]]));
            case INT64 ->
                op.kind().isComparison()
                        ? comparisons(type, i -> compare(op.kind(), lhs.longs()[at[i]], rhs.longs()[by[i]]))
                        : longs(type, i -> whole(op.kind(), lhs.longs()[at[i]], rhs.longs()[by[i]]));
            default ->
                op.kind().isComparison()
                        ? comparisons(type, i -> compare(op.kind(), (long) lhs.ints()[at[i]], rhs.ints()[by[i]]))
                        : ints(type, i -> (int) whole(op.kind(), lhs.ints()[at[i]], rhs.ints()[by[i]]));
        };
    }

    private static float real(Kind kind, float a, float b) {
        return switch (kind) {
            case ADD -> a + b;
            case SUBTRACT -> a - b;
            case MULTIPLY -> a * b;
            case DIVIDE -> a / b;
            case MAXIMUM -> a > b ? a : b;
            case MINIMUM -> a < b ? a : b;
            case FLOOR_DIVIDE -> (float) Math.floor((double) a / b);
            case FLOOR_MOD -> floorMod(a, b);
            case SQUARED_DIFFERENCE -> (a - b) * (a - b);
            case PRELU -> a >= 0 ? a : a * b;
            default -> throw unknown(kind);
        };
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
            case MAXIMUM -> Math.max(a, b);
            case MINIMUM -> Math.min(a, b);
            case SQUARED_DIFFERENCE -> (a - b) * (a - b);
            case LOGICAL_AND -> a & b;
            case LOGICAL_OR -> a | b;
            default -> throw unknown(kind);
        };
    }

    /** Primitive comparisons: NaN equals nothing, and 0 equals -0. */
    private static boolean compare(Kind kind, float a, float b) {
        return switch (kind) {
            case EQUAL -> a == b;
            case NOT_EQUAL -> a != b;
            case LESS -> a < b;
            case LESS_EQUAL -> a <= b;
            case GREATER -> a > b;
            case GREATER_EQUAL -> a >= b;
            default -> throw unknown(kind);
        };
    }

    private static boolean compare(Kind kind, long a, long b) {
        return switch (kind) {
            case EQUAL -> a == b;
            case NOT_EQUAL -> a != b;
            case LESS -> a < b;
            case LESS_EQUAL -> a <= b;
            case GREATER -> a > b;
            case GREATER_EQUAL -> a >= b;
            default -> throw unknown(kind);
        };
    }

    private static IllegalArgumentException unknown(Kind kind) {
        return new IllegalArgumentException("no such function of these elements: " + kind);
    }

    private interface Reals {
        float at(int index);
    }

    private interface Longs {
        long at(int index);
    }

    private interface Ints {
        int at(int index);
    }

    private interface Comparisons {
        boolean at(int index);
    }

    private static Tensor reals(TensorType type, Reals elements) {
        float[] result = new float[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            result[i] = elements.at(i);
        }
        return Tensor.of(type, result);
    }

    private static Tensor longs(TensorType type, Longs elements) {
        long[] result = new long[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            result[i] = elements.at(i);
        }
        return Tensor.of(type, result);
    }

    private static Tensor ints(TensorType type, Ints elements) {
        int[] result = new int[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            result[i] = elements.at(i);
        }
        return Tensor.of(type, result);
    }

    private static Tensor comparisons(TensorType type, Comparisons elements) {
        return ints(type, i -> elements.at(i) ? 1 : 0);
    }
}
