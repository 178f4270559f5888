// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Constants in another shape or layout. */
public final class ConstantLayouts {
    private ConstantLayouts() {}

    /** The same elements under another shape. */
    public static Constant reshaped(Constant constant, int... dims) {
        return new Constant(
                constant.name(), new TensorType(Shape.of(dims), constant.type().dtype()), constant.data());
    }

    /** A vector of integers as int64. */
    public static Constant widened(Constant constant) {
        ByteBuffer data = ByteBuffer.allocate(Long.BYTES * constant.elements()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < constant.elements(); i++) {
            data.putLong(constant.integer(i));
        }
        return new Constant(
                constant.name(), new TensorType(constant.type().shape(), DType.INT64), Bytes.wrap(data.array()));
    }

    /** Transposes a matrix (rows, columns) to (columns, rows), under the given shape. */
    public static Constant transposed(Constant constant, int rows, int columns, int... dims) {
        int width = constant.type().dtype().bytes();
        byte[] from = constant.data().toArray();
        byte[] to = new byte[from.length];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                System.arraycopy(from, (row * columns + column) * width, to, (column * rows + row) * width, width);
            }
        }
        TensorType type = new TensorType(Shape.of(dims), constant.type().dtype());
        return new Constant(constant.name(), type, Bytes.wrap(to));
    }
}
