// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.frontend.onnx.quantized.ElementOperand.ElementForm;
import io.kiln.frontend.onnx.quantized.ElementOperand.Grid;
import io.kiln.frontend.onnx.quantized.ElementOperand.Sources;
import io.kiln.frontend.onnx.quantized.ElementOperand.TableForm;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Functions of single elements. Of bytes they are tables; limits after another operator limit its bytes, because quantizing is
 * monotone.
 */
final class FunctionForm {
    private static final Set<String> UNARY = Set.of("""
        Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish
        IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus
        Softsign Sqrt Swish Tan Tanh ThresholdedRelu
        """.strip().split("\\s+", -1));

    /** Functions of all of their inputs. */
    private static final Set<String> OF_SEVERAL = Set.of("""
        Add And Clip Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub
        Sum Where Xor
        """.strip().split("\\s+", -1));

    private FunctionForm() {}

    /**
     * The form of a node; empty if it is no function of elements, or of too many tensors.
     *
     * @param moved how the node moves or selects elements, if it does
     */
    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node, Optional<Deferred> moved) {
        String name = node.node().operator();
        boolean isUnary = UNARY.contains(name);
        return isUnary || OF_SEVERAL.contains(name)
                ? elements(importer, node, moved)
                        .or(() -> isUnary || name.equals("Clip") ? limits(node) : Optional.empty())
                : Optional.empty();
    }

    /** A function of the elements of tensors of bytes and of constants. */
    private static Optional<IntegerForm> elements(OnnxImporter importer, NodeContext node, Optional<Deferred> moved) {
        Map<Integer, ElementOperand> operands = new LinkedHashMap<>();
        for (int i = 0; i < node.inputs(); i++) {
            if (!node.has(i) || (node.arg(i) instanceof Constant number && number.elements() == 1)) {
                continue;
            }
            Optional<ElementOperand> operand = operand(node, i);
            if (operand.isEmpty()) {
                return Optional.empty();
            }
            operands.put(i, operand.get());
        }
        ElementForm form = new ElementForm(importer, node, operands, moved);
        Sources sources = form.sources();
        if (sources.tensors().isEmpty() || form.nodes() > ElementForm.MOST_NODES || !isOfShape(node, sources)) {
            return Optional.empty();
        }
        if (sources.tensors().size() > 1 || !sources.constants().isEmpty()) {
            return Optional.of(form);
        }
        Dequantized source = sources.tensors().get(0);
        return form.results(Grid.of(source)).map(results -> new TableForm(node, source, results));
    }

    private static Optional<ElementOperand> operand(NodeContext node, int input) {
        if (node.arg(input) instanceof Constant constant) {
            boolean isKnown = node.element(input) == ElementType.FLOAT || node.element(input) == ElementType.BOOL;
            return Optional.of(constant)
                    .filter(values -> isKnown && values.elements() > 1)
                    .map(values -> new ElementOperand.Values(node, values));
        }
        return node.form(input, ElementOperand.class)
                .or(() -> QuantizedForms.bytes(node, input).map(data -> TableForm.of(node, data)));
    }

    /** Whether the result has the dimensions of its sources: other constants have one element and at most as many dimensions. */
    private static boolean isOfShape(NodeContext node, Sources sources) {
        Shape shape = Shape.scalar();
        for (Dequantized tensor : sources.tensors()) {
            shape = node.broadcastShape(shape, node.shape(tensor.integers()));
        }
        for (Constant constant : sources.constants()) {
            shape = node.broadcastShape(shape, constant.type().shape());
        }
        return node.output(0).map(v -> node.shape(v.arg())).equals(Optional.of(shape));
    }

    /** Relu or Clip after something that integers compute. */
    private static Optional<IntegerForm> limits(NodeContext node) {
        return node.form(0, Deferred.class)
                .filter(inner -> range(node).isPresent())
                .map(inner -> new Limited(node, inner));
    }

    /** What a Relu or Clip limits. */
    private record Limited(NodeContext node, Deferred inner) implements Deferred {
        @Override
        public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
            return inner.quantized(to, limits(node, to).orElseThrow().then(limits));
        }

        @Override
        public boolean canBeWide() {
            return inner.canBeWide();
        }
    }

    /** The range of bytes of a Relu, or of a Clip with constant limits. */
    static Optional<Limits> limits(NodeContext node, ElementQuantization to) {
        return range(node).map(range -> {
            int low = to.quantize(range[0]);
            return new Limits(low, Math.max(low, to.quantize(range[1])));
        });
    }

    private static Optional<float[]> range(NodeContext node) {
        boolean isClip = node.is("Clip");
        if (!isClip && !node.is("Relu")) {
            return Optional.empty();
        }
        float low = isClip ? -Float.MAX_VALUE : 0;
        float high = Float.MAX_VALUE;
        if (isClip) {
            low = node.real("min", low);
            high = node.real("max", high);
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
