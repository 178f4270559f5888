// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.layer.OnnxSoftmax;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** {@code QLinearSoftmax}, see {@link io.kiln.ir.op.layer.OnnxSoftmax}.
 */
final class QLinearSoftmax implements OnnxImporter {
    private static final int ALONG_AXIS = 13;

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
        int count = e.shape(data).dim(axis);
        node.require(
                OnnxSoftmaxArithmetic.isFinite(to.scale(), count) && to.scale() <= 1,
                "its result of " + count + " elements has the scale " + to.scale(),
                "at most 1, and no result that is infinite in ONNX Runtime's single precision");
        OnnxForm form = to.type() == ElementType.UINT8 ? OnnxForm.UINT8 : OnnxForm.INT8;
        List<Integer> axes =
                new ArrayList<>(IntStream.range(0, e.shape(data).rank()).boxed().toList());
        Collections.swap(axes, axis, axes.size() - 1);
        Arg bytes = SoftmaxForm.softmax(node, new OnnxSoftmax(form, false), e.transpose(data, axes), from, to);
        return e.transpose(bytes, axes);
    }
}
