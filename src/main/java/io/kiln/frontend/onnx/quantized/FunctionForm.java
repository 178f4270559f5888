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
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.TflLookup;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Functions of single elements. Of bytes they are tables; limits after another operator limit its bytes, because quantizing is
 * monotone.
 */
final class FunctionForm {
    private static final Set<String> UNARY = Set.of(
            "Abs",
            "Acos",
            "Acosh",
            "Asin",
            "Asinh",
            "Atan",
            "Atanh",
            "Ceil",
            "Celu",
            "Clip",
            "Cos",
            "Cosh",
            "Elu",
            "Erf",
            "Exp",
            "Floor",
            "Gelu",
            "HardSigmoid",
            "HardSwish",
            "LeakyRelu",
            "Log",
            "Mish",
            "Neg",
            "Reciprocal",
            "Relu",
            "Round",
            "Selu",
            "Shrink",
            "Sigmoid",
            "Sign",
            "Sin",
            "Sinh",
            "Softplus",
            "Softsign",
            "Sqrt",
            "Tan",
            "Tanh",
            "ThresholdedRelu");

    private static final Set<String> BINARY = Set.of("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "PRelu");

    private FunctionForm() {}

    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        String name = node.node().operator();
        if (UNARY.contains(name)) {
            return QuantizedForms.bytes(node, 0)
                    .map(data -> table(importer, node, 0, data))
                    .or(() -> limits(node));
        }
        if (BINARY.contains(name) && node.inputs() == 2) {
            for (int i = 0; i < 2; i++) {
                int input = i;
                boolean isWithNumber = node.arg(1 - i) instanceof Constant number && number.elements() == 1;
                Optional<Dequantized> data = QuantizedForms.bytes(node, i).filter(d -> isWithNumber);
                if (data.isPresent()
                        && node.shape(1 - i).rank() <= node.shape(i).rank()) {
                    return data.map(d -> table(importer, node, input, d));
                }
            }
        }
        return Optional.empty();
    }

    private static IntegerForm table(OnnxImporter importer, NodeContext node, int input, Dequantized data) {
        return (Deferred) (to, limits) -> results(importer, node, input, data)
                .map(results -> QuantizedForms.lookup(node, data, to, limits, results));
    }

    /** The function of the real numbers of all bytes; empty if it is more than a function of single elements. */
    private static Optional<Constant> results(OnnxImporter importer, NodeContext node, int input, Dequantized data) {
        OnnxValue all = new OnnxValue(QuantizedForms.allReals(data.by()), ElementType.FLOAT);
        NodeContext shadow = node.shadow(Map.of(input, all), Optional.empty());
        importer.emit(shadow);
        return shadow.output(0)
                .map(OnnxValue::arg)
                .filter(Constant.class::isInstance)
                .map(Constant.class::cast)
                .filter(results -> results.elements() == TflLookup.SIZE);
    }

    /** Relu or Clip after something that integers compute. */
    private static Optional<IntegerForm> limits(NodeContext node) {
        Optional<Deferred> inner =
                node.input(0).form().filter(Deferred.class::isInstance).map(Deferred.class::cast);
        Optional<float[]> range = range(node);
        return inner.isEmpty() || range.isEmpty()
                ? Optional.empty()
                : Optional.of((Deferred) (to, limits) ->
                        inner.get().quantized(to, limits(range.get(), to).then(limits)));
    }

    private static Limits limits(float[] range, ElementQuantization to) {
        int low = to.quantize(range[0]);
        return new Limits(low, Math.max(low, to.quantize(range[1])));
    }

    private static Optional<float[]> range(NodeContext node) {
        boolean isClip = node.node().operator().equals("Clip");
        if (!isClip && !node.node().operator().equals("Relu")) {
            return Optional.empty();
        }
        float low = isClip ? -Float.MAX_VALUE : 0;
        float high = Float.MAX_VALUE;
        if (isClip) {
            low = node.attributes().real("min", low);
            high = node.attributes().real("max", high);
            for (int i = 1; i < node.inputs(); i++) {
                if (node.has(i) && !(node.arg(i) instanceof Constant)) {
                    return Optional.empty();
                }
            }
            low = node.has(1) ? node.reals(1, "min").get(0) : low;
            high = node.has(2) ? node.reals(2, "max").get(0) : high;
        }
        return Optional.of(new float[] {low, high});
    }
}
