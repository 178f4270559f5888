// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.frontend.tflite.elementwise.UnaryImporters;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.Concatenation;
import io.kiln.frontend.tflite.schema.OperatorOptions.DepthToSpace;
import io.kiln.frontend.tflite.schema.OperatorOptions.Pack;
import io.kiln.frontend.tflite.schema.OperatorOptions.SpaceToDepth;
import io.kiln.frontend.tflite.schema.OperatorOptions.Squeeze;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.tensor.TensorReader;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Operators that only copy elements: they join tensors, change, reorder or return dimensions, or move blocks between space, depth and
 * batch (NHWC). Blocks are split into dimensions of their own, transposed, and joined with neighbouring dimensions.
 */
public final class MovementImporters {
    public static final List<Registration> ALL = List.of(
            builtinOfBytes(BuiltinOperator.CONCATENATION, 4, MovementImporters::concatenate),
            builtinOfBytes(BuiltinOperator.DEPTH_TO_SPACE, 2, MovementImporters::depthToSpace),
            builtinOfBytes(BuiltinOperator.SPACE_TO_DEPTH, 2, MovementImporters::spaceToDepth),
            builtinOfBytes(BuiltinOperator.BATCH_TO_SPACE_ND, 4, MovementImporters::batchToSpace),
            builtinOfBytes(BuiltinOperator.SPACE_TO_BATCH_ND, 4, MovementImporters::spaceToBatch),
            builtinOfBytes(BuiltinOperator.TRANSPOSE, 7, MovementImporters::transpose),
            builtinOfBytes(BuiltinOperator.SQUEEZE, 2, MovementImporters::squeeze),
            builtinOfBytes(BuiltinOperator.EXPAND_DIMS, 1, MovementImporters::expandDims),
            builtin(BuiltinOperator.SHAPE, 1, MovementImporters::shape),
            builtinOfBytes(BuiltinOperator.PACK, 4, MovementImporters::pack),
            builtinOfBytes(BuiltinOperator.BROADCAST_TO, 3, MovementImporters::broadcastTo),
            builtin(BuiltinOperator.BROADCAST_ARGS, 1, MovementImporters::broadcastArgs),
            builtinOfBytes(BuiltinOperator.RESHAPE, 1, MovementImporters::reshape));

    private MovementImporters() {}

    /**
     * CONCATENATION. Elements are copied unchanged, even if scales differ, because TensorFlow Lite Micro does not rescale here. For uint8,
     * which it does not support, TensorFlow Lite's CONCATENATION rescales.
     */
    private static void concatenate(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(Concatenation.TYPE);
        operator.require(
                options.get(Concatenation.FUSED_ACTIVATION_FUNCTION) == FusedActivation.NONE.code(),
                "an activation is fused into it",
                "none, which TensorFlow Lite Micro does not support here",
                "Put the activation after it");
        int axis = operator.axis(
                options.get(Concatenation.AXIS), operator.input(0).shape().rank());
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < operator.inputCount(); i++) {
            parts.add(part(operator, operator.input(i)));
        }
        join(operator, axis, parts);
    }

    private static Arg part(OperatorContext operator, TfliteTensor tensor) {
        TfliteTensor output = operator.output();
        if (!tensor.shifted() || !output.shifted()) {
            return operator.value(tensor);
        }
        operator.checkScales(tensor, output);
        Quantization from = tensor.affine();
        Quantization to = output.affine();
        return from.equals(to) ? operator.value(tensor) : UnaryImporters.lookup(operator, tensor, rescaled(from, to));
    }

    /**
     * The rescaled value of each int8, for uint8 (ConcatenationWithScaling in reference/concatenation.h), in single
     * precision.
     */
    private static int[] rescaled(Quantization from, Quantization to) {
        int[] answers = new int[1 << Byte.SIZE];
        float scale = from.scale() * (1 / to.scale());
        float bias = -(from.zeroPoint() - Byte.MIN_VALUE) * scale;
        for (int i = 0; i < answers.length; i++) {
            long steps = FixedPoint.roundHalfAway(i * scale + bias);
            answers[i] = FixedPoint.clamp(
                    FixedPoint.clamp(steps, Integer.MIN_VALUE, Integer.MAX_VALUE) + (long) to.zeroPoint(),
                    Byte.MIN_VALUE,
                    Byte.MAX_VALUE);
        }
        return answers;
    }

    private static void pack(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(Pack.TYPE);
        Shape shape = operator.input(0).shape();
        int axis = operator.axis(options.get(Pack.AXIS), shape.rank() + 1);
        operator.requireThat(
                options.get(Pack.VALUES_COUNT) == operator.inputCount(),
                "values_count is " + options.get(Pack.VALUES_COUNT),
                operator.inputCount() + ", the number of inputs");
        Shape dims = shape.inserted(axis);
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < operator.inputCount(); i++) {
            parts.add(operator.emit(new Reshape(dims), operator.value(i)));
        }
        join(operator, axis, parts);
    }

    private static void join(OperatorContext operator, int axis, List<Arg> parts) {
        operator.finish(new Concatenate(axis, parts.size()), parts.toArray(Arg[]::new));
    }

    private static void expandDims(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int axis = operator.axis(operator.input(1), data.shape().rank() + 1);
        operator.finish(new Reshape(data.shape().inserted(axis)), operator.value(data));
    }

    private static void squeeze(OperatorContext operator) {
        Shape data = operator.input(0).shape();
        int[] stated = operator.options(Squeeze.TYPE)
                .map(options -> options.get(Squeeze.SQUEEZE_DIMS).ints())
                .orElse(new int[0]);
        boolean[] gone = new boolean[data.rank()];
        for (int axis : stated) {
            int index = operator.axis(axis, data.rank());
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
        operator.finish(new Reshape(new Shape(dims)), operator.value(0));
    }

    private static void shape(OperatorContext operator) {
        Shape data = operator.input(0).shape();
        operator.finish(vector(operator, data.dims()));
    }

    /** A vector of the output's type, int32 or int64. */
    private static Arg vector(OperatorContext operator, List<Integer> values) {
        DType dtype = operator.output().dtype();
        operator.requireThat(
                dtype == DType.INT32 || dtype == DType.INT64, "the output is " + dtype.text(), "int32 or int64");
        return Constant.integers("", new TensorType(Shape.of(values.size()), dtype), values::get);
    }

    private static void broadcastTo(OperatorContext operator) {
        int[] dims = operator.integers("the shape's dimensions", operator.input(1));
        operator.requireThat(
                Arrays.stream(dims).allMatch(dim -> dim >= 0),
                "the shape is " + Arrays.toString(dims),
                "dimensions of 0 or more");
        operator.finish(new BroadcastTo(Shape.of(dims)), operator.value(0));
    }

    private static void broadcastArgs(OperatorContext operator) {
        int[] a = operator.integers("the first shape's dimensions", operator.input(0));
        int[] b = operator.integers("the second shape's dimensions", operator.input(1));
        List<Integer> dims = new ArrayList<>();
        int rank = Math.max(a.length, b.length);
        for (int i = 0; i < rank; i++) {
            int da = i < rank - a.length ? 1 : a[i - rank + a.length];
            int db = i < rank - b.length ? 1 : b[i - rank + b.length];
            operator.require(
                    da == db || da == 1 || db == 1,
                    "dimensions " + da + " and " + db + " do not broadcast",
                    "equal dimensions, or one of them 1");
            dims.add(da == 1 ? db : da);
        }
        operator.check();
        operator.finish(vector(operator, dims));
    }

    private static void transpose(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int rank = data.shape().rank();
        int[] order = operator.integers("the order of dimensions", operator.input(1), rank);
        operator.finish(
                new Transpose(Arrays.stream(order)
                        .map(axis -> axis < 0 ? axis + rank : axis)
                        .boxed()
                        .toList()),
                operator.value(data));
    }

    /**
     * RESHAPE as in TensorFlow Lite (reshape.cc): the new shape is the second operand if that is a vector of int32,
     * otherwise it is in the options. One dimension may be -1. Options of {@code [0]}, or none, make a scalar.
     */
    private static void reshape(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        operator.require(
                data.dtype() == output.dtype(),
                "element types " + data.dtype().text() + " and "
                        + output.dtype().text() + " differ",
                "the same type on both sides");
        if (data.quantization().isPerTensor() && output.quantization().isPerTensor()) {
            operator.requireEqual(data, output);
        }
        operator.check();
        int[] wanted = wantedShape(operator);
        long elements = data.shape().elements();
        Shape shape = operator.outputShape(() -> inferred(operator, wanted, data));
        operator.requireThat(
                fits(wanted, shape, elements),
                "new shape " + Arrays.toString(wanted) + " does not fit",
                "the " + elements + " elements of " + data.text() + " as " + shape.text(),
                "Convert the model with a fixed input shape");
        operator.finish(new Reshape(shape), operator.value(data));
    }

    /** The new shape, with a dimension of -1 computed from the data. */
    private static Shape inferred(OperatorContext operator, int[] wanted, TfliteTensor data) {
        long known = 1;
        int computed = 0;
        for (int dim : wanted) {
            computed += dim == -1 ? 1 : 0;
            known *= dim == -1 || known > TensorType.MAX_BYTES ? 1 : Math.max(0, dim);
        }
        long elements = data.shape().elements();
        boolean fits = computed <= 1 && known > 0 && (computed == 0 ? known == elements : elements % known == 0);
        operator.requireThat(
                fits,
                "new shape " + Arrays.toString(wanted) + " does not fit",
                "the " + elements + " elements of " + data.text(),
                "Correct kiln.inputShapes, or convert the model with this input shape");
        int rest = (int) (elements / known);
        return Shape.of(Arrays.stream(wanted).map(dim -> dim == -1 ? rest : dim).toArray());
    }

    private static int[] wantedShape(OperatorContext operator) {
        Optional<TfliteTensor> vector = operator.optionalInput(1).filter(MovementImporters::isShapeVector);
        int[] dims = vector.isPresent() ? constantShape(operator, vector.get()) : optionsShape(operator);
        operator.requireThat(
                dims.length <= TensorReader.MAX_RANK,
                "the new shape has rank " + dims.length,
                "a rank of at most " + TensorReader.MAX_RANK,
                "");
        return dims;
    }

    /** Whether an operand is used as the new shape; one of another rank or type is ignored (ShapeIsVector). */
    private static boolean isShapeVector(TfliteTensor tensor) {
        return tensor.dtype() == DType.INT32 && tensor.shape().rank() == 1;
    }

    private static int[] constantShape(OperatorContext operator, TfliteTensor tensor) {
        operator.requireConstant("the new shape", tensor);
        operator.check();
        return operator.integers("the new shape's dimensions", tensor);
    }

    private static int[] optionsShape(OperatorContext operator) {
        int[] dims = operator.options(OperatorOptions.Reshape.TYPE)
                .map(options -> options.get(OperatorOptions.Reshape.NEW_SHAPE).ints())
                .orElse(new int[0]);
        // Old converters wrote a scalar's shape like this (GetOutputShapeFromParam).
        return dims.length == 1 && dims[0] == 0 ? new int[0] : dims;
    }

    /** Whether the wanted dimensions are the output's, except for at most one -1. */
    private static boolean fits(int[] wanted, Shape output, long elements) {
        if (output.elements() != elements || wanted.length != output.rank()) {
            return false;
        }
        int computed = 0;
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i] == -1) {
                computed++;
            } else if (wanted[i] != output.dim(i)) {
                return false;
            }
        }
        return computed <= 1;
    }

    private static void spaceToDepth(OperatorContext operator) {
        Shape s = imageOf(operator);
        int block = operator.requiredOptions(SpaceToDepth.TYPE).get(SpaceToDepth.BLOCK_SIZE);
        operator.requireThat(
                block > 0 && s.dim(1) % block == 0 && s.dim(2) % block == 0,
                "block size " + block,
                "a divisor of height and width of " + s.text());
        int rows = s.dim(1) / block;
        int columns = s.dim(2) / block;
        Arg blocks = reshaped(operator, operator.value(0), s.dim(0), rows, block, columns, block, s.dim(3));
        Arg moved = operator.emit(new Transpose(List.of(0, 1, 3, 2, 4, 5)), blocks);
        operator.finish(reshaped(operator, moved, s.dim(0), rows, columns, block * block * s.dim(3)));
    }

    private static void depthToSpace(OperatorContext operator) {
        Shape s = imageOf(operator);
        int block = operator.requiredOptions(DepthToSpace.TYPE).get(DepthToSpace.BLOCK_SIZE);
        operator.requireThat(
                block > 0 && block <= s.dim(3) && s.dim(3) % (block * block) == 0,
                "block size " + block,
                "one whose square divides the channels of " + s.text());
        int depth = s.dim(3) / (block * block);
        Arg blocks = reshaped(operator, operator.value(0), s.dim(0), s.dim(1), s.dim(2), block, block, depth);
        Arg moved = operator.emit(new Transpose(List.of(0, 1, 3, 2, 4, 5)), blocks);
        operator.finish(reshaped(operator, moved, s.dim(0), s.dim(1) * block, s.dim(2) * block, depth));
    }

    private static Shape imageOf(OperatorContext operator) {
        Shape shape = operator.input(0).shape();
        operator.requireThat(shape.rank() == 4, operator.input(0).text() + " is not supported here", "rank 4", "");
        return shape;
    }

    private static void spaceToBatch(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] block = blocks(operator, data);
        int[] padding = operator.integers("the paddings", operator.input(2), 2 * block.length);
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
                    "a multiple of " + block[i]);
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
        operator.finish(new Reshape(new Shape(joined)), operator.emit(new Transpose(order), parts));
    }

    private static void batchToSpace(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] block = blocks(operator, data);
        int[] crops = operator.integers("the crops", operator.input(2), 2 * block.length);
        Shape shape = data.shape();
        int m = block.length;
        int batch = shape.dim(0);
        List<Integer> split = new ArrayList<>();
        List<Integer> order = new ArrayList<>(List.of(m));
        List<Integer> joined = new ArrayList<>();
        for (int i = 0; i < m; i++) {
            operator.require(batch % block[i] == 0, "batch " + shape.dim(0), "a multiple of the blocks");
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
        int[] block = operator.integers("the block's sizes", operator.input(1));
        int rank = data.shape().rank();
        boolean holds = block.length > 0 && block.length < rank;
        for (int size : block) {
            holds &= size > 0 && size <= TensorReader.MAX_RANK * (1 << 12);
        }
        operator.requireThat(holds, "the block's sizes for " + data.text(), "1 to " + (rank - 1) + " sizes above 0");
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
            operator.requireThat(
                    left >= 0 && right >= 0 && (long) left + right < size,
                    "crops " + left + " and " + right,
                    "less than " + size + " together");
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
