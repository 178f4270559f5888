// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.base.DType;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Conversions between element types. */
final class Casts {
    private Casts() {}

    static Tensor cast(Cast op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int count = Math.toIntExact(type.shape().elements());
        if (op.dtype().isFloat()) {
            float[] result = new float[count];
            for (int i = 0; i < count; i++) {
                result[i] = data.isFloat() ? data.floats()[i] : (float) integer(data, i);
            }
            return Tensor.of(type, result);
        }
        if (op.dtype() == DType.INT64) {
            long[] result = new long[count];
            for (int i = 0; i < count; i++) {
                result[i] = data.isFloat() ? (long) data.floats()[i] : integer(data, i);
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

    /** Truncated towards zero; NaN becomes 0. */
    private static long truncated(float value, DType dtype) {
        return dtype == DType.UINT32 ? Math.max(0, Math.min(DType.UINT32.max(), (long) value)) : (int) value;
    }

    private static long integer(Tensor data, int index) {
        if (data.type().dtype() == DType.INT64) {
            return data.longs()[index];
        }
        int value = data.ints()[index];
        return data.type().dtype() == DType.UINT32 ? Integer.toUnsignedLong(value) : value;
    }
}
