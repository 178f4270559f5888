// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.StringJoiner;

/** Shows a tensor's values in one line; quantized values as the real numbers they represent. */
public final class TensorText {
    private static final int SHOWN = 6;

    private TensorText() {}

    /** The name and the first values. */
    static String of(TensorInfo tensor, Bytes bytes) {
        StringJoiner values = new StringJoiner(" ");
        ByteBuffer buffer = bytes.buffer();
        long shown = Math.min(SHOWN, tensor.elements());
        for (int i = 0; i < shown; i++) {
            values.add(value(tensor, buffer));
        }
        String more = tensor.elements() > shown ? " … (" + tensor.elements() + ")" : "";
        return tensor.name() + " = " + values + more;
    }

    /** The name, element type and shape. */
    public static String type(TensorInfo tensor) {
        return tensor.name() + " " + tensor.dtype().text() + tensor.shape();
    }

    private static String value(TensorInfo tensor, ByteBuffer buffer) {
        if (tensor.dtype().isFloat()) {
            return real(buffer.getFloat());
        }
        long raw = switch (tensor.dtype()) {
            case INT8 -> buffer.get();
            case UINT8, BOOL -> Byte.toUnsignedInt(buffer.get());
            case INT16 -> buffer.getShort();
            case INT32 -> buffer.getInt();
            case UINT32 -> Integer.toUnsignedLong(buffer.getInt());
            case INT64, UINT64 -> buffer.getLong();
            case FLOAT32 -> throw new IllegalArgumentException("handled above");
        };
        if (tensor.dtype() == DType.UINT64) {
            return Long.toUnsignedString(raw);
        }
        return tensor.scale() == 0 ? Long.toString(raw) : real((raw - tensor.zeroPoint()) * tensor.scale());
    }

    private static String real(float value) {
        return String.format(Locale.ROOT, "%.4g", value);
    }
}
