// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.MirrorPad;
import io.kiln.frontend.tflite.schema.SchemaEnums.MirrorPadMode;
import io.kiln.frontend.tflite.schema.StablehloOptions.StablehloPad;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Operators that put a constant around elements (PAD, PADV2, MIRROR_PAD) or between them: DILATE, and STABLEHLO_PAD, which adds it at the
 * ends too, or removes elements there.
 */
public final class PadImporters {
    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.DILATE, 1, PadImporters::dilate),
            builtin(BuiltinOperator.STABLEHLO_PAD, 1, PadImporters::stablehloPad),
            builtinOfBytes(BuiltinOperator.PAD, 4, PadImporters::pad),
            builtinOfBytes(BuiltinOperator.PADV2, 4, PadImporters::padV2),
            builtinOfBytes(BuiltinOperator.MIRROR_PAD, 3, PadImporters::mirrorPad));

    private static final int MOST = 1 << 16;

    private PadImporters() {}

    private static void dilate(OperatorContext operator) {
        int rank = operator.input(0).shape().rank();
        int[] steps = operator.integers("the dilations", operator.input(1), rank);
        Constant value = value(operator, operator.input(2));
        Arg result = operator.value(0);
        for (int axis = 0; axis < rank; axis++) {
            requireWidth(operator, steps[axis] - 1L, 0);
            result = between(operator, result, axis, steps[axis] - 1, value);
        }
        operator.finish(result);
    }

    private static void stablehloPad(OperatorContext operator) {
        FlatTable options = operator.laterOptions(StablehloPad.TYPE);
        Constant value = value(operator, operator.input(1));
        int rank = operator.input(0).shape().rank();
        List<FlatVector> widths = List.of(
                options.get(StablehloPad.EDGE_PADDING_LOW),
                options.get(StablehloPad.EDGE_PADDING_HIGH),
                options.get(StablehloPad.INTERIOR_PADDING));
        operator.requireThat(
                widths.stream().allMatch(vector -> vector.size() == rank),
                "it has not a width for each of " + rank + " dimensions",
                "as many low, high and interior widths as dimensions");
        Arg result = operator.value(0);
        for (int axis = 0; axis < rank; axis++) {
            long low = widths.get(0).i64(axis);
            long high = widths.get(1).i64(axis);
            long inner = widths.get(2).i64(axis);
            requireWidth(operator, inner, 0);
            result = between(operator, result, axis, (int) inner, value);
            result = atEnds(operator, result, axis, width(operator, low), width(operator, high), value);
        }
        operator.finish(result);
    }

    /** A width at an end; where it is negative, elements are removed. */
    static int width(OperatorContext operator, long width) {
        requireWidth(operator, width, -MOST);
        return (int) width;
    }

    private static void requireWidth(OperatorContext operator, long width, int least) {
        operator.requireThat(width >= least && width <= MOST, "a padding is " + width, least + " to " + MOST);
    }

    static Constant value(OperatorContext operator, TfliteTensor value) {
        operator.requireConstant("the padding's value", value);
        operator.requireThat(
                value.shape().elements() == 1
                        && value.dtype() == operator.input(0).dtype(),
                "the padding's value is " + value.text(),
                "one element of the data's type");
        return new Constant(
                "",
                new TensorType(Shape.scalar(), value.dtype()),
                operator.constant(value).data());
    }

    /** So many values after each element along a dimension, but for the last one. */
    static Arg between(OperatorContext operator, Arg data, int axis, int width, Constant value) {
        Formulas f = operator;
        Shape shape = f.shape(data);
        int size = shape.dim(axis);
        if (width == 0 || size < 2) {
            return data;
        }
        Shape apart = shape.inserted(axis + 1);
        Arg spread = padded(operator, f.reshape(data, apart), axis + 1, 0, width, value);
        Shape dims = shape.with(axis, Math.multiplyExact(size, width + 1));
        return f.slice(f.reshape(spread, dims), axis, 0, dims.dim(axis) - width);
    }

    static Arg atEnds(OperatorContext operator, Arg data, int axis, int low, int high, Constant value) {
        Formulas f = operator;
        Arg padded = padded(operator, data, axis, Math.max(0, low), Math.max(0, high), value);
        int size = f.shape(padded).dim(axis);
        int begin = Math.max(0, -low);
        int end = size - Math.max(0, -high);
        operator.requireThat(begin < end, "it removes all elements of dimension " + axis, "at least one that stays");
        return f.slice(padded, axis, begin, end);
    }

    private static Arg padded(OperatorContext operator, Arg data, int axis, int before, int after, Constant value) {
        if (before == 0 && after == 0) {
            return data;
        }
        int rank = operator.type(data).shape().rank();
        List<Integer> low = new ArrayList<>(Collections.nCopies(rank, 0));
        List<Integer> high = new ArrayList<>(low);
        low.set(axis, before);
        high.set(axis, after);
        return operator.emit(new Pad(low, high), Arrays.asList(data, value));
    }

    private static void pad(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] widths = widths(operator, data, operator.input(1));
        operator.finish(pad(widths), operator.value(data), zero(operator.output()));
    }

    private static void padV2(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] widths = widths(operator, data, operator.input(1));
        operator.finish(pad(widths), operator.value(data), value(operator, operator.input(2)));
    }

    /** The zero of a tensor: its zero point for 8 bits, otherwise 0. */
    static Constant zero(TfliteTensor tensor) {
        DType dtype = tensor.dtype();
        boolean shifted = dtype.bytes() == 1 && tensor.quantization().isPerTensor();
        byte[] data = new byte[dtype.bytes()];
        data[0] = (byte) (shifted ? tensor.quantization().zeroPoint() : 0);
        return new Constant("", new TensorType(Shape.scalar(), dtype), Bytes.wrap(data));
    }

    private static Pad pad(int[] widths) {
        List<Integer> before = new ArrayList<>();
        List<Integer> after = new ArrayList<>();
        for (int i = 0; i < widths.length; i += 2) {
            before.add(widths[i]);
            after.add(widths[i + 1]);
        }
        return new Pad(before, after);
    }

    /** Numbers of elements before and after each dimension of the data, alternating. */
    private static int[] widths(OperatorContext operator, TfliteTensor data, TfliteTensor tensor) {
        int[] widths = operator.integers(
                "the widths of padding", tensor, 2 * data.shape().rank());
        operator.requireThat(
                Arrays.stream(widths).allMatch(width -> width >= 0 && width <= TensorType.MAX_BYTES),
                "the widths of padding are " + Arrays.toString(widths),
                "0 or more");
        return widths;
    }

    private static void mirrorPad(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] widths = widths(operator, data, operator.input(1));
        boolean reflects = operator.requiredOptions(MirrorPad.TYPE).get(MirrorPad.MODE) == MirrorPadMode.REFLECT.code();
        for (int i = 0; i < widths.length; i++) {
            int most = data.shape().dim(i / 2) - (reflects ? 1 : 0);
            operator.require(widths[i] <= most, "dimension " + i / 2 + " is padded by " + widths[i], "at most " + most);
        }
        operator.check();
        Arg value = operator.value(data);
        for (int axis = 0; axis < data.shape().rank(); axis++) {
            value = mirrored(operator, value, axis, widths[2 * axis], widths[2 * axis + 1], reflects ? 1 : 0);
        }
        operator.finish(value);
    }

    /** The value between its mirrored parts before and after it along a dimension. */
    private static Arg mirrored(OperatorContext operator, Arg value, int axis, int before, int after, int skipped) {
        Shape shape = operator.type(value).shape();
        int size = shape.dim(axis);
        List<Arg> parts = new ArrayList<>();
        if (before > 0) {
            parts.add(backwards(operator, value, axis, before - 1 + skipped, before));
        }
        parts.add(value);
        if (after > 0) {
            parts.add(backwards(operator, value, axis, size - 1 - skipped, after));
        }
        return parts.size() == 1
                ? value
                : operator.emit(new Concatenate(axis, parts.size()), parts.toArray(Arg[]::new));
    }

    private static Arg backwards(OperatorContext operator, Arg value, int axis, int first, int count) {
        Shape shape = operator.type(value).shape();
        int end = first - count;
        return operator.emit(StridedSlice.along(shape, axis, first, end < 0 ? -shape.dim(axis) - 1 : end, -1), value);
    }
}
