// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.MirrorPadMode;
import io.kiln.frontend.tflite.schema.MovementOptions.MirrorPad;
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
import java.util.List;

/** PAD, PADV2 and MIRROR_PAD. */
final class PadImporters {
    private static final String AGAIN = "Export the model again";

    private PadImporters() {}

    static void pad(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] widths = widths(operator, data, operator.input(1));
        operator.finish(operator.emit(pad(widths), operator.value(data), zero(operator.output())));
    }

    static void padV2(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] widths = widths(operator, data, operator.input(1));
        TfliteTensor value = operator.input(2);
        ElementTypes.requireConstant(operator, "the padding's value", value);
        operator.require(
                value.shape().elements() == 1 && value.dtype() == data.dtype(),
                "the padding's value is " + value.text(),
                "one element of the data's type",
                AGAIN);
        operator.check();
        Constant constant = operator.constant(value);
        operator.finish(operator.emit(
                pad(widths),
                operator.value(data),
                new Constant("", new TensorType(Shape.scalar(), value.dtype()), constant.data())));
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
        int[] widths = ConstantParameters.ints(
                operator, "the widths of padding", tensor, 2 * data.shape().rank());
        operator.require(
                Arrays.stream(widths).allMatch(width -> width >= 0 && width <= TensorType.MAX_BYTES),
                "the widths of padding are " + Arrays.toString(widths),
                "0 or more",
                AGAIN);
        operator.check();
        return widths;
    }

    static void mirrorPad(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] widths = widths(operator, data, operator.input(1));
        boolean reflects = operator.requiredOptions(MirrorPad.TYPE).get(MirrorPad.MODE) == MirrorPadMode.REFLECT.code();
        for (int i = 0; i < widths.length; i++) {
            int most = data.shape().dim(i / 2) - (reflects ? 1 : 0);
            operator.require(
                    widths[i] <= most, "dimension " + i / 2 + " is padded by " + widths[i], "at most " + most, AGAIN);
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
