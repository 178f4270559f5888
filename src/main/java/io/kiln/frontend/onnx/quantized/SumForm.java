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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Convolutions and matrix products: sums of bytes times bytes, rescaled. The importer of the float operator runs again, with
 * bytes; {@link IntegerLayer} makes integer operators of what it emits.
 *
 * @param data the input
 * @param weight bytes, constant or a computed matrix
 * @param bias constant words with the scale of the products, if there are any
 */
record SumForm(Dequantized data, Dequantized weight, Optional<Dequantized> bias) {
    private static final Set<String> LAYERS = Set.of("Conv", "ConvTranspose", "Gemm", "MatMul");

    /** Roundings between a bias's scale and the product of the others, in units of its last place. */
    private static final int ROUNDINGS = 2;

    /** The form of a node; empty if it is another operator or not all of its inputs are quantized. */
    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        if (!LAYERS.contains(node.node().operator()) || node.inputs() < 2) {
            return Optional.empty();
        }
        float alpha = node.attributes().real("alpha", 1);
        float beta = node.attributes().real("beta", 1);
        Optional<Dequantized> data = QuantizedForms.bytes(node, 0).filter(d -> alpha > 0);
        Optional<Dequantized> weight = dequantized(node, 1).filter(w -> isWeight(node, w));
        Optional<Dequantized> bias = dequantized(node, 2)
                .filter(b -> b.by().type() == ElementType.INT32 && b.integers() instanceof Constant);
        if (data.isEmpty() || weight.isEmpty() || (node.has(2) && bias.isEmpty())) {
            return Optional.empty();
        }
        SumForm form = new SumForm(scaled(data.get(), alpha), weight.get(), bias.map(b -> scaled(b, beta)));
        NodeContext plain = node.without("alpha").without("beta");
        return form.isBiasOfSums()
                ? Optional.of((Deferred) (to, limits) -> form.emit(importer, plain, to, limits))
                : Optional.empty();
    }

    private static Dequantized scaled(Dequantized value, float factor) {
        return factor == 1
                ? value
                : new Dequantized(value.integers(), value.by().scaled(factor));
    }

    /** Several scales must be those of the channels of the result. Only a matrix may be computed. */
    private static boolean isWeight(NodeContext node, Dequantized weight) {
        ElementQuantization by = weight.by();
        String name = node.node().operator();
        boolean isMatrix = name.equals("Gemm") || name.equals("MatMul");
        if (!by.isOfBytes() || !by.hasOneZeroPoint()) {
            return false;
        }
        return by.isPerTensor()
                ? isMatrix || weight.integers() instanceof Constant
                : weight.integers() instanceof Constant && by.axis() == channelAxis(node, name);
    }

    private static int channelAxis(NodeContext node, String name) {
        return switch (name) {
            case "Conv" -> 0;
            case "ConvTranspose" -> node.attributes().whole("group", 1) == 1 ? 1 : -1;
            case "Gemm" -> node.attributes().truth("transB", false) ? 0 : 1;
            default -> node.shape(1).rank() == 1 ? -1 : node.shape(1).rank() - 1;
        };
    }

    /** Whether a bias can be added to the sums: its scale is that of a product, and its zero point is 0. */
    private boolean isBiasOfSums() {
        return bias.map(Dequantized::by).filter(by -> !isScaleOfSums(by)).isEmpty();
    }

    private boolean isScaleOfSums(ElementQuantization by) {
        List<Float> weights = weight.by().scales();
        int channels = Math.max(weights.size(), by.scales().size());
        for (int c = 0; c < channels; c++) {
            float product = data.by().scale() * weights.get(c % weights.size());
            float stated = by.scales().get(c % by.scales().size());
            if (Math.abs(stated - product) > ROUNDINGS * Math.ulp(product)) {
                return false;
            }
        }
        return by.zeroPoints().stream().allMatch(zero -> zero == 0);
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
