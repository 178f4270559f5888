// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;

/**
 * {@code QLinearSoftmax} as ONNX Runtime computes it (contrib_ops/cpu/quantization/qlinear_softmax.cc): exponentials of the distance
 * to the largest element come from a table of floats, scaled so that their sum stays finite; each is multiplied by the whole part of
 * the result's reciprocal scale and divided by the sum. A result of uint8 saturates; one of int8 wraps around, so that a probability of 1
 * becomes -128 with the usual zero point of -128 and scale of 1/256, as there.
 */
final class QLinearSoftmax implements OnnxImporter {
    private static final int ALONG_AXIS = 13;
    private static final int RESERVED = 5;

    @Override
    public void emit(NodeContext node) {
        ElementType type = node.element(0);
        ElementQuantization from = Parameters.readOne(node, 1, 2, type);
        ElementQuantization to = Parameters.readOne(node, 3, 4, type);
        Shape shape = node.shape(0);
        boolean isAlongAxis = node.attributes().requiredWhole("opset") >= ALONG_AXIS;
        int axis = node.axis(node.attributes().whole("axis", isAlongAxis ? -1 : 1), shape.rank());
        Expressions e = new Expressions(node);
        Arg data = QuantizedBytes.of(node, node.input(0));
        Shape rows = isAlongAxis ? shape : flattened(shape, axis);
        int along = isAlongAxis ? axis : 1;
        Arg bytes = softmax(node, e.reshape(data, rows), along, from, to);
        node.finish(0, QuantizedBytes.value(node, e.reshape(bytes, shape), type));
    }

    private static Shape flattened(Shape shape, int axis) {
        long before = 1;
        for (int i = 0; i < axis; i++) {
            before *= shape.dim(i);
        }
        return Shape.of((int) before, (int) (shape.elements() / before));
    }

    private static Arg softmax(NodeContext node, Arg data, int axis, ElementQuantization from, ElementQuantization to) {
        Expressions e = new Expressions(node);
        Arg largest = e.cast(e.reduce(Reduce.Kind.MAX, data, List.of(axis)), DType.INT32);
        Arg distance = e.subtract(e.cast(data, DType.INT32), largest);
        Arg index = e.cast(e.add(distance, Byte.MAX_VALUE), DType.INT8);
        int count = e.shape(data).dim(axis);
        Arg exponentials = node.emit(new TflLookup(), index, exponentials(from.scale(), count));
        Arg sum = e.reduce(Reduce.Kind.SUM, exponentials, List.of(axis));
        Arg scaled = e.multiply(exponentials, Math.floor(1f / to.scale()));
        Arg steps = e.unary(Unary.Kind.ROUND, e.divide(scaled, sum));
        return to.type() == ElementType.UINT8
                ? node.emit(
                        new QnnQuantize(DType.INT8, Rounding.ONNX),
                        steps,
                        Constant.scalar(1f),
                        Constant.scalar(to.zeroPoint()))
                : e.cast(e.add(e.cast(steps, DType.INT32), to.zeroPoint()), DType.INT8);
    }

    /** By the distance to the largest element, which is 255 here. */
    private static Constant exponentials(float scale, int count) {
        double shift = Math.max(0, Math.log(Float.MAX_VALUE / (float) count) - RESERVED) / scale;
        float[] table = new float[TflLookup.SIZE];
        for (int i = 0; i < table.length; i++) {
            table[i] = (float) Math.exp((i - (TflLookup.SIZE - 1) + shift) * scale);
        }
        return Constant.vector(table);
    }
}
