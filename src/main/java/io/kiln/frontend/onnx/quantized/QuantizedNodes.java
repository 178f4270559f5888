// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Constant;
import java.util.Optional;

/** Imports nodes of quantized models so that they stay in integers. */
public final class QuantizedNodes {
    private QuantizedNodes() {}

    /** Imports a node, in integers where that is exact, and states how integers compute its first output. */
    public static void emit(OnnxImporter importer, NodeContext node) {
        MovedBytes movements = new MovedBytes(importer, node);
        boolean isMovement = movements.apply();
        if (isMovement && movements.move()) {
            return;
        }
        importer.emit(node);
        for (int i = 0; i < node.outputs(); i++) {
            if (isMovement && isReal(node, i)) {
                int output = i;
                movements.form(i).ifPresent(form -> attach(node, output, form));
            }
        }
        if (isReal(node, 0)) {
            form(importer, node).ifPresent(form -> attach(node, 0, form));
        }
    }

    /** Whether an output has real numbers that are computed in floats so far. */
    private static boolean isReal(NodeContext node, int output) {
        return node.output(output)
                .filter(v -> v.type().isFloat() && !(v.arg() instanceof Constant))
                .filter(v -> v.form().isEmpty())
                .isPresent();
    }

    private static Optional<IntegerForm> form(OnnxImporter importer, NodeContext node) {
        if (!node.node().domain().isEmpty()) {
            return Optional.empty();
        }
        return SumForm.of(importer, node)
                .or(() -> MeanForm.of(importer, node))
                .or(() -> ResizeForm.of(node))
                .or(() -> SoftmaxForm.of(QuantizedImporters.importer("Softmax"), node))
                .or(() -> DeferredSum.ofSum(node))
                .or(() -> FunctionForm.of(importer, node))
                .or(() -> PairForm.of(importer, node));
    }

    private static void attach(NodeContext node, int output, IntegerForm form) {
        OnnxValue value = node.output(output).orElseThrow();
        node.replace(output, new OnnxValue(value.arg(), value.type(), Optional.of(form)));
    }
}
