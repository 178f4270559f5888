// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An operator of ONNX Runtime that dequantizes, computes and quantizes: X, its scale and zero point, those of the result.
 *
 * @param operator name of the operator in between
 * @param importer its importer
 */
record QLinearFunction(String operator, OnnxImporter importer) implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        ElementType type = node.element(0);
        ElementQuantization to = Parameters.readOne(node, 3, 4, type);
        NodeContext shadow = onFloats(node, operator, data(node));
        QuantizedNodes.emit(importer, shadow);
        OnnxValue result = shadow.output(0).orElseThrow(() -> node.failure("it computes nothing", "one output"));
        node.finish(0, QuantizedBytes.value(node, QuantizeLinearImporter.bytes(node, result, to), type));
    }

    /** The first three inputs. */
    static Dequantized data(NodeContext node) {
        return new Dequantized(QuantizedBytes.of(node, node.input(0)), Parameters.readOne(node, 1, 2, node.element(0)));
    }

    /** The node as an operator on the real numbers of its data. */
    static NodeContext onFloats(NodeContext node, String operator, Dequantized data) {
        return node.as(operator, List.of(0))
                .shadow(Map.of(0, QuantizedBytes.dequantized(node, data)), Optional.empty());
    }
}
