// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.MovementOptions.Squeeze;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Operators that change, reorder or return dimensions: EXPAND_DIMS, SQUEEZE, SHAPE, TRANSPOSE, BROADCAST_TO,
 * BROADCAST_ARGS.
 */
final class ShapeImporters {
    private ShapeImporters() {}

    static void expandDims(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int axis = ConstantParameters.axis(
                operator, operator.input(1), data.shape().rank() + 1);
        List<Integer> dims = new ArrayList<>(data.shape().dims());
        dims.add(axis, 1);
        operator.finish(operator.emit(new Reshape(new Shape(dims)), operator.value(data)));
    }

    static void squeeze(OperatorContext operator) {
        Shape data = operator.input(0).shape();
        int[] stated = operator.options(Squeeze.TYPE)
                .map(options -> options.get(Squeeze.SQUEEZE_DIMS).ints())
                .orElse(new int[0]);
        boolean[] gone = new boolean[data.rank()];
        for (int axis : stated) {
            int index = ConstantParameters.axis(operator, axis, data.rank());
            gone[index] = true;
            operator.require(data.dim(index) == 1, "dimension " + axis + " of " + data.text() + " is not 1", "1", "");
        }
        operator.check();
        List<Integer> dims = new ArrayList<>();
        for (int i = 0; i < gone.length; i++) {
            if (!(stated.length == 0 ? data.dim(i) == 1 : gone[i])) {
                dims.add(data.dim(i));
            }
        }
        operator.finish(operator.emit(new Reshape(new Shape(dims)), operator.value(operator.input(0))));
    }

    static void shape(OperatorContext operator) {
        Shape data = operator.input(0).shape();
        operator.finish(vector(operator, data.dims()));
    }

    /** A vector of the output's type, int32 or int64. */
    private static Arg vector(OperatorContext operator, List<Integer> values) {
        DType dtype = operator.output().dtype();
        operator.require(
                dtype == DType.INT32 || dtype == DType.INT64,
                "the output is " + dtype.text(),
                "int32 or int64",
                "Export the model again");
        operator.check();
        ByteBuffer data = ByteBuffer.allocate(values.size() * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            if (dtype == DType.INT64) {
                data.putLong(value);
            } else {
                data.putInt(value);
            }
        }
        return new Constant("", new TensorType(Shape.of(values.size()), dtype), Bytes.wrap(data.array()));
    }

    static void broadcastTo(OperatorContext operator) {
        int[] dims = ConstantParameters.ints(operator, "the shape's dimensions", operator.input(1));
        operator.require(
                Arrays.stream(dims).allMatch(dim -> dim >= 0),
                "the shape is " + Arrays.toString(dims),
                "dimensions of 0 or more",
                "Export the model again");
        operator.check();
        operator.finish(operator.emit(new BroadcastTo(Shape.of(dims)), operator.value(operator.input(0))));
    }

    static void broadcastArgs(OperatorContext operator) {
        int[] a = ConstantParameters.ints(operator, "the first shape's dimensions", operator.input(0));
        int[] b = ConstantParameters.ints(operator, "the second shape's dimensions", operator.input(1));
        List<Integer> dims = new ArrayList<>();
        int rank = Math.max(a.length, b.length);
        for (int i = 0; i < rank; i++) {
            int da = i < rank - a.length ? 1 : a[i - rank + a.length];
            int db = i < rank - b.length ? 1 : b[i - rank + b.length];
            operator.require(
                    da == db || da == 1 || db == 1,
                    "dimensions " + da + " and " + db + " do not broadcast",
                    "equal dimensions, or one of them 1",
                    "Export the model again");
            dims.add(da == 1 ? db : da);
        }
        operator.check();
        operator.finish(vector(operator, dims));
    }

    static void transpose(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int rank = data.shape().rank();
        int[] order = ConstantParameters.ints(operator, "the order of dimensions", operator.input(1), rank);
        operator.finish(operator.emit(
                new Transpose(Arrays.stream(order)
                        .map(axis -> axis < 0 ? axis + rank : axis)
                        .boxed()
                        .toList()),
                operator.value(data)));
    }
}
