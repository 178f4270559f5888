// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;

/** Parameters of operators that are tensors: shapes, axes, sizes. They must be known at build time. */
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
                "int32 or int64, at most " + MOST + " elements",
                "Export the model again");
        ElementTypes.requireConstant(operator, what, tensor);
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
        operator.require(
                values.length == count,
                what + " are " + tensor.text(),
                "a number of elements of " + count,
                "Export the model again");
        operator.check();
        return values;
    }

    /** An axis of a tensor: negative values count from the end; the result is from 0 to the rank minus 1. */
    public static int axis(OperatorContext operator, int stated, int rank) {
        boolean holds = stated >= -rank && stated < rank;
        operator.require(
                holds, "axis " + stated + " does not exist", -rank + " to " + (rank - 1), "Export the model again");
        operator.check();
        return stated < 0 ? stated + rank : stated;
    }

    /** The axis in a tensor of one element. */
    public static int axis(OperatorContext operator, TfliteTensor tensor, int rank) {
        return axis(operator, ints(operator, "the axis", tensor, 1)[0], rank);
    }
}
