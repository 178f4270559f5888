// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.Registration;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/** Operators whose results are known when a model is imported. */
final class ConstantImporters {
    static final List<Registration> ALL = List.of(onnx("Constant", ConstantImporters::constant));

    private ConstantImporters() {}

    private static void constant(NodeContext node) {
        OnnxValue value = value(node).orElseThrow(() -> node.failure(
                "its value is not a number or a dense tensor of numbers",
                "one of the attributes value, value_int, value_ints, value_float and value_floats"));
        node.finish(0, value.arg(), value.type());
    }

    private static Optional<OnnxValue> value(NodeContext node) {
        Expressions e = new Expressions(node);
        Optional<OnnxTensor> tensor = node.attributes().tensor("value");
        return tensor.map(t -> new OnnxValue(t.constant(), t.type()))
                .or(() -> node.attributes()
                        .whole("value_int")
                        .map(v -> new OnnxValue(e.longs(List.of(v), Shape.scalar()), ElementType.INT64)))
                .or(() -> node.attributes()
                        .wholes("value_ints")
                        .map(v -> new OnnxValue(e.longs(v, Shape.of(v.size())), ElementType.INT64)))
                .or(() -> node.attributes()
                        .real("value_float")
                        .map(v -> new OnnxValue(e.number(v, DType.FLOAT32), ElementType.FLOAT)))
                .or(() -> node.attributes().reals("value_floats").map(v -> {
                    float[] values = new float[v.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = v.get(i);
                    }
                    return new OnnxValue(e.reals(values, Shape.of(values.length)), ElementType.FLOAT);
                }));
    }
}
