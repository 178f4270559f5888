// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntToDoubleFunction;

/** Constants in integers. */
public final class QuantizedConstants {
    private QuantizedConstants() {}

    /** A float constant in a quantization. */
    public static Constant of(Constant constant, DType dtype, Quantization quantization) {
        return integers(
                constant, dtype, i -> (double) (constant.real(i) / quantization.scale()) + quantization.zeroPoint());
    }

    /** A constant of the same shape whose elements are rounded, halves away from zero, and limited to the type. */
    static Constant integers(Constant constant, DType dtype, IntToDoubleFunction element) {
        return limited(constant, dtype, dtype.min(), dtype.max(), element);
    }

    static Constant limited(Constant constant, DType dtype, long min, long max, IntToDoubleFunction element) {
        ByteBuffer buffer =
                ByteBuffer.allocate(dtype.bytes() * constant.elements()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < constant.elements(); i++) {
            double value = Math.max((double) min, Math.min((double) max, element.applyAsDouble(i)));
            long rounded = Math.max(min, Math.min(max, FixedPoint.roundHalfAway(value)));
            switch (dtype) {
                case INT8 -> buffer.put((byte) rounded);
                case INT16 -> buffer.putShort((short) rounded);
                case INT32 -> buffer.putInt((int) rounded);
                default -> buffer.putLong(rounded);
            }
        }
        return new Constant(
                constant.name(), new TensorType(constant.type().shape(), dtype), Bytes.wrap(buffer.array()));
    }
}
