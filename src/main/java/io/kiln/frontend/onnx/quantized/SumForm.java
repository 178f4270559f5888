// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Convolutions and matrix products: sums of bytes times constant bytes, rescaled. The importer of the float operator runs again, with
 * bytes; {@link IntegerLayer} makes integer operators of what it emits.
 *
 * @param data the input
 * @param weight constant bytes
 * @param bias constant words, if there are any
 */
record SumForm(Dequantized data, Dequantized weight, Optional<Dequantized> bias) {
    private static final Set<String> LAYERS = Set.of("Conv", "Gemm", "MatMul");

    /** The form of a node; empty if it is another operator or not all of its inputs are quantized. */
    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        if (!LAYERS.contains(node.node().operator()) || node.inputs() < 2) {
            return Optional.empty();
        }
        Optional<Dequantized> data = QuantizedForms.bytes(node, 0);
        Optional<Dequantized> weight = dequantized(node, 1)
                .filter(w -> w.by().isOfBytes() && w.by().hasOneZeroPoint() && w.integers() instanceof Constant);
        Optional<Dequantized> bias = dequantized(node, 2)
                .filter(b -> b.by().type() == ElementType.INT32 && b.integers() instanceof Constant);
        if (data.isEmpty() || weight.isEmpty() || (node.has(2) && bias.isEmpty())) {
            return Optional.empty();
        }
        SumForm form = new SumForm(data.get(), weight.get(), bias);
        return Optional.of((Deferred) (to, limits) -> form.emit(importer, node, to, limits));
    }

    private static Optional<Dequantized> dequantized(NodeContext node, int input) {
        return node.optional(input)
                .flatMap(OnnxValue::form)
                .filter(Dequantized.class::isInstance)
                .map(Dequantized.class::cast);
    }

    /** Emits the layer with its bias, rescaling and limits. */
    Optional<Arg> emit(OnnxImporter importer, NodeContext node, ElementQuantization to, Limits limits) {
        Map<Integer, OnnxValue> integers = new LinkedHashMap<>();
        integers.put(0, new OnnxValue(data.integers(), ElementType.FLOAT));
        integers.put(1, new OnnxValue(weight.integers(), ElementType.FLOAT));
        bias.ifPresent(b -> integers.put(2, new OnnxValue(b.integers(), ElementType.FLOAT)));
        return QuantizedForms.bytes(importer, node, integers, new IntegerLayer(node, this, to, limits));
    }
}
