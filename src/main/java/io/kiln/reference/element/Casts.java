// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.base.DType;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Conversions between element types. */
final class Casts {
    private static final float TWO_TO_63 = 0x1p63f;

    private Casts() {}

    static Tensor cast(Cast op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int count = Math.toIntExact(type.shape().elements());
        if (op.dtype().isFloat()) {
            float[] result = new float[count];
            for (int i = 0; i < count; i++) {
                result[i] = data.isFloat() ? data.floats()[i] : real(data, i);
            }
            return Tensor.of(type, result);
        }
        if (op.dtype().isLong()) {
            long[] result = new long[count];
            for (int i = 0; i < count; i++) {
                result[i] = data.isFloat() ? truncatedLong(data.floats()[i], op.dtype()) : integer(data, i);
            }
            return Tensor.of(type, result);
        }
        int[] result = new int[count];
        for (int i = 0; i < count; i++) {
            long value = data.isFloat() ? truncated(data.floats()[i], op.dtype()) : integer(data, i);
            result[i] = switch (op.dtype()) {
                case INT8 -> (byte) value;
                case UINT8 -> (int) (value & 0xFF);
                case INT16 -> (short) value;
                default -> (int) value;
            };
        }
        return Tensor.of(type, result);
    }

    /** The same bits. */
    static Tensor reinterpret(Reinterpret op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int count = Math.toIntExact(type.shape().elements());
        float[] reals = new float[count];
        int[] bits = new int[count];
        for (int i = 0; i < count; i++) {
            if (data.isFloat()) {
                bits[i] = Float.floatToRawIntBits(data.floats()[i]);
            } else {
                reals[i] = Float.intBitsToFloat(data.ints()[i]);
            }
        }
        return op.dtype().isFloat() ? Tensor.of(type, reals) : Tensor.of(type, bits);
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
}
