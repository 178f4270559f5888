// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.MovementOptions.DepthToSpace;
import io.kiln.frontend.tflite.schema.MovementOptions.SpaceToDepth;
import io.kiln.frontend.tflite.tensor.TensorReader;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Operators that move blocks between space, depth and batch, NHWC: blocks are split into dimensions of their own,
 * transposed, and joined with neighbouring dimensions.
 */
final class BlockImporters {
    private static final String AGAIN = "Export the model again";

    private BlockImporters() {}

    static void spaceToDepth(OperatorContext operator) {
        Shape s = imageOf(operator);
        int block = operator.requiredOptions(SpaceToDepth.TYPE).get(SpaceToDepth.BLOCK_SIZE);
        operator.require(
                block > 0 && s.dim(1) % block == 0 && s.dim(2) % block == 0,
                "block size " + block,
                "a divisor of height and width of " + s.text(),
                AGAIN);
        operator.check();
        int rows = s.dim(1) / block;
        int columns = s.dim(2) / block;
        Arg blocks =
                reshaped(operator, operator.value(operator.input(0)), s.dim(0), rows, block, columns, block, s.dim(3));
        Arg moved = operator.emit(new Transpose(List.of(0, 1, 3, 2, 4, 5)), blocks);
        operator.finish(reshaped(operator, moved, s.dim(0), rows, columns, block * block * s.dim(3)));
    }

    static void depthToSpace(OperatorContext operator) {
        Shape s = imageOf(operator);
        int block = operator.requiredOptions(DepthToSpace.TYPE).get(DepthToSpace.BLOCK_SIZE);
        operator.require(
                block > 0 && block <= s.dim(3) && s.dim(3) % (block * block) == 0,
                "block size " + block,
                "one whose square divides the channels of " + s.text(),
                AGAIN);
        operator.check();
        int depth = s.dim(3) / (block * block);
        Arg blocks = reshaped(
                operator, operator.value(operator.input(0)), s.dim(0), s.dim(1), s.dim(2), block, block, depth);
        Arg moved = operator.emit(new Transpose(List.of(0, 1, 3, 2, 4, 5)), blocks);
        operator.finish(reshaped(operator, moved, s.dim(0), s.dim(1) * block, s.dim(2) * block, depth));
    }

    private static Shape imageOf(OperatorContext operator) {
        Shape shape = operator.input(0).shape();
        operator.require(shape.rank() == 4, operator.input(0).text() + " is not supported here", "rank 4", "");
        operator.check();
        return shape;
    }

    static void spaceToBatch(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] block = blocks(operator, data);
        int[] padding = ConstantParameters.ints(operator, "the paddings", operator.input(2), 2 * block.length);
        Arg padded = padded(operator, data, padding);
        Shape shape = operator.type(padded).shape();
        int m = block.length;
        List<Integer> split = new ArrayList<>(List.of(shape.dim(0)));
        List<Integer> order = new ArrayList<>();
        List<Integer> joined = new ArrayList<>();
        int batch = shape.dim(0);
        for (int i = 0; i < m; i++) {
            operator.require(
                    shape.dim(i + 1) % block[i] == 0,
                    "the padded dimension " + shape.dim(i + 1) + " has no whole blocks",
                    "a multiple of " + block[i],
                    AGAIN);
            split.add(shape.dim(i + 1) / block[i]);
            split.add(block[i]);
            order.add(2 * i + 2);
            batch *= block[i];
        }
        operator.check();
        order.add(0);
        joined.add(batch);
        for (int i = 0; i < m; i++) {
            order.add(2 * i + 1);
            joined.add(shape.dim(i + 1) / block[i]);
        }
        appendRest(shape, m, split, order, joined);
        Arg parts = operator.emit(new Reshape(new Shape(split)), padded);
        operator.finish(operator.emit(new Reshape(new Shape(joined)), operator.emit(new Transpose(order), parts)));
    }

    static void batchToSpace(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] block = blocks(operator, data);
        int[] crops = ConstantParameters.ints(operator, "the crops", operator.input(2), 2 * block.length);
        Shape shape = data.shape();
        int m = block.length;
        int batch = shape.dim(0);
        List<Integer> split = new ArrayList<>();
        List<Integer> order = new ArrayList<>(List.of(m));
        List<Integer> joined = new ArrayList<>();
        for (int i = 0; i < m; i++) {
            operator.require(batch % block[i] == 0, "batch " + shape.dim(0), "a multiple of the blocks", AGAIN);
            batch /= block[i];
            split.add(block[i]);
            order.add(m + 1 + i);
            order.add(i);
        }
        operator.check();
        split.add(batch);
        joined.add(batch);
        for (int i = 0; i < m; i++) {
            split.add(shape.dim(i + 1));
            joined.add(shape.dim(i + 1) * block[i]);
        }
        appendRest(shape, m, split, order, joined);
        Arg parts = operator.emit(new Reshape(new Shape(split)), operator.value(data));
        Arg whole = operator.emit(new Reshape(new Shape(joined)), operator.emit(new Transpose(order), parts));
        operator.finish(cropped(operator, whole, crops));
    }

    /** Dimensions after the blocks stay unchanged. */
    private static void appendRest(Shape shape, int m, List<Integer> split, List<Integer> order, List<Integer> joined) {
        for (int axis = m + 1; axis < shape.rank(); axis++) {
            order.add(axis + m);
            split.add(shape.dim(axis));
            joined.add(shape.dim(axis));
        }
    }

    private static int[] blocks(OperatorContext operator, TfliteTensor data) {
        int[] block = ConstantParameters.ints(operator, "the block's sizes", operator.input(1));
        int rank = data.shape().rank();
        boolean holds = block.length > 0 && block.length < rank;
        for (int size : block) {
            holds &= size > 0 && size <= TensorReader.MAX_RANK * (1 << 12);
        }
        operator.require(holds, "the block's sizes for " + data.text(), "1 to " + (rank - 1) + " sizes above 0", AGAIN);
        operator.check();
        return block;
    }

    private static Arg padded(OperatorContext operator, TfliteTensor data, int[] padding) {
        int rank = data.shape().rank();
        List<Integer> before = new ArrayList<>();
        List<Integer> after = new ArrayList<>();
        boolean any = false;
        for (int axis = 0; axis < rank; axis++) {
            boolean pads = axis > 0 && 2 * axis <= padding.length;
            before.add(pads ? padding[2 * axis - 2] : 0);
            after.add(pads ? padding[2 * axis - 1] : 0);
            any |= before.get(axis) != 0 || after.get(axis) != 0;
        }
        return any
                ? operator.emit(new Pad(before, after), operator.value(data), PadImporters.zero(operator.output()))
                : operator.value(data);
    }

    private static Arg cropped(OperatorContext operator, Arg value, int[] crops) {
        Arg result = value;
        for (int i = 0; i < crops.length / 2; i++) {
            Shape shape = operator.type(result).shape();
            int size = shape.dim(i + 1);
            int left = crops[2 * i];
            int right = crops[2 * i + 1];
            operator.require(
                    left >= 0 && right >= 0 && (long) left + right < size,
                    "crops " + left + " and " + right,
                    "less than " + size + " together",
                    AGAIN);
            operator.check();
            if (left + right > 0) {
                result = operator.emit(StridedSlice.along(shape, i + 1, left, size - right, 1), result);
            }
        }
        return result;
    }

    private static Arg reshaped(OperatorContext operator, Arg value, int... dims) {
        return operator.emit(new Reshape(Shape.of(dims)), value);
    }
}
