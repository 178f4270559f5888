// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.ElementQuantization;
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
        node.require(
                !node.attributes().truth("channels_last", false),
                "its channels are the last dimension",
                "channels_last 0");
        ElementType type = node.element(0);
        ElementQuantization from = Parameters.readOne(node, 1, 2, type);
        ElementQuantization to = Parameters.readOne(node, 3, 4, type);
        Dequantized data = new Dequantized(QuantizedBytes.of(node, node.input(0)), from);
        NodeContext shadow =
                node.as(operator, List.of(0)).shadow(Map.of(0, QuantizedBytes.dequantized(node, data)), Optional.empty());
        QuantizedNodes.emit(importer, shadow);
        OnnxValue result = shadow.output(0).orElseThrow(() -> node.failure("it computes nothing", "one output"));
        node.finish(0, QuantizedBytes.value(node, QuantizeLinearImporter.bytes(node, result, to), type));
    }
}
