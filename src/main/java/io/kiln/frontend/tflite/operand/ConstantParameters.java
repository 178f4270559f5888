// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/** Operands that must be known at build time: shapes, axes and sizes as numbers, and constants in another shape or layout. */
public final class ConstantParameters {
    private static final int MOST = 64;

    private ConstantParameters() {}

    /**
     * The elements of a tensor of int32 or int64.
     *
     * @param what name in messages
     */
    public static int[] ints(OperatorContext operator, String what, TfliteTensor tensor) {
        operator.require(
                (tensor.dtype() == DType.INT32 || tensor.dtype() == DType.INT64)
                        && tensor.shape().elements() <= MOST,
                what + " are " + tensor.text(),
                "int32 or int64, at most " + MOST + " elements");
        OperandTypes.requireConstant(operator, what, tensor);
        operator.check();
        Constant constant = operator.constant(tensor);
        int[] values = new int[constant.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, constant.integer(i)));
        }
        return values;
    }

    /** As {@link #ints}, of a given number. */
    public static int[] ints(OperatorContext operator, String what, TfliteTensor tensor, int count) {
        int[] values = ints(operator, what, tensor);
        operator.requireThat(
                values.length == count, what + " are " + tensor.text(), "a number of elements of " + count);
        return values;
    }

    /** An axis of a tensor: negative values count from the end; the result is from 0 to the rank minus 1. */
    public static int axis(OperatorContext operator, int stated, int rank) {
        boolean holds = stated >= -rank && stated < rank;
        operator.requireThat(holds, "axis " + stated + " does not exist", -rank + " to " + (rank - 1));
        return stated < 0 ? stated + rank : stated;
    }

    /** The axis in a tensor of one element. */
    public static int axis(OperatorContext operator, TfliteTensor tensor, int rank) {
        return axis(operator, ints(operator, "the axis", tensor, 1)[0], rank);
    }

    /** The same elements under another shape. */
    public static Constant reshaped(Constant constant, int... dims) {
        return new Constant(
                constant.name(), new TensorType(Shape.of(dims), constant.type().dtype()), constant.data());
    }

    /** A vector of integers as int64. */
    public static Constant widened(Constant constant) {
        TensorType type = new TensorType(constant.type().shape(), DType.INT64);
        return Constant.integers(constant.name(), type, constant::integer);
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
