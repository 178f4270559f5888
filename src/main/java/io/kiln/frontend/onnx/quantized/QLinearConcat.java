// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code QLinearConcat} of ONNX Runtime: scale and zero point of the result, then each part with its own. A part whose
 * scale or zero point differs is dequantized and quantized again, by a table of 256 bytes.
 */
final class QLinearConcat implements OnnxImporter {
    private static final int FIRST = 2;
    private static final int INPUTS_OF_PART = 3;

    @Override
    public void emit(NodeContext node) {
        node.require(
                node.inputs() > FIRST && (node.inputs() - FIRST) % INPUTS_OF_PART == 0,
                "it has " + node.inputs() + " inputs",
                "scale and zero point of the result, then each part with its own");
        ElementType type = node.element(FIRST);
        ElementQuantization to = Parameters.readOne(node, 0, 1, type);
        List<Arg> parts = new ArrayList<>();
        for (int i = FIRST; i < node.inputs(); i += INPUTS_OF_PART) {
            node.require(
                    node.element(i) == type,
                    "it joins " + type.text() + " and " + node.element(i).text(),
                    "one type");
            Dequantized part = new Dequantized(
                    QuantizedBytes.of(node, node.input(i)), Parameters.readOne(node, i + 1, i + 2, type));
            parts.add(QuantizedForms.quantized(node, part, to, Limits.NONE).orElseThrow());
        }
        int axis = node.axis(
                node.attributes().requiredWhole("axis"), node.shape(FIRST).rank());
        Arg joined = new Expressions(node).concatenate(parts, axis);
        node.finish(0, QuantizedBytes.value(node, joined, type));
    }
}
