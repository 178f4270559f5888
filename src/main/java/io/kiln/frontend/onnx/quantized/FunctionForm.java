// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.TflLookup;
import java.util.LinkedHashMap;
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
        boolean isUnary = UNARY.contains(name);
        if (!isUnary && !(BINARY.contains(name) && node.inputs() == 2)) {
            return Optional.empty();
        }
        Optional<IntegerForm> table = table(importer, node, isUnary ? 1 : 2).map(form -> form);
        return table.or(() -> isUnary ? limits(node) : Optional.empty());
    }

    /** A function of the elements of one tensor and of constant numbers. */
    private static Optional<TableForm> table(OnnxImporter importer, NodeContext node, int operands) {
        Map<Integer, OnnxValue> results = new LinkedHashMap<>();
        Optional<TableForm> source = Optional.empty();
        int rank = 0;
        for (int i = 0; i < operands; i++) {
            if (node.arg(i) instanceof Constant number && number.elements() == 1) {
                rank = node.shape(i).rank();
                continue;
            }
            Optional<TableForm> own = TableForm.of(node, i);
            if (own.isEmpty() || source.filter(s -> !s.isOfSame(own.get())).isPresent()) {
                return Optional.empty();
            }
            source = own;
            results.put(i, new OnnxValue(own.get().results(), ElementType.FLOAT));
        }
        int mostRank = rank;
        return source.filter(s ->
                        mostRank <= node.type(s.source().integers()).shape().rank())
                .flatMap(s -> all(importer, node, results).map(all -> new TableForm(node, s.source(), all)));
    }

    /** The function of the results of all bytes; empty if it is more than a function of single elements. */
    private static Optional<Constant> all(OnnxImporter importer, NodeContext node, Map<Integer, OnnxValue> operands) {
        NodeContext shadow = node.shadow(operands, Optional.empty());
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
