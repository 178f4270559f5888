// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.recurrent;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A recurrent layer in one direction.
 *
 * @param node the node
 * @param expressions emits operators
 * @param index 0, or 1 for the second direction
 * @param gates number of gates
 * @param activations names of the activations
 * @param weights recurrent weights of gates, from one to another, used in each step
 */
record Direction(
        NodeContext node,
        Expressions expressions,
        int index,
        int gates,
        List<String> activations,
        Map<List<Integer>, Arg> weights) {
    private static final int PEEPHOLES = 7;

    static Direction of(NodeContext node, Expressions e, RecurrentImporter layer, int index) {
        int count = layer.activations().size();
        List<String> stated = node.attributes().texts("activations").orElse(List.of());
        boolean isStated = stated.size() >= (index + 1) * count;
        List<String> activations = isStated ? stated.subList(index * count, (index + 1) * count) : layer.activations();
        return new Direction(node, e, index, layer.gates(), activations, new HashMap<>());
    }

    int hidden() {
        return node.shape(2).dim(2);
    }

    /** The weights of the data, (gates * hidden, input). */
    Arg weight() {
        return matrix(1);
    }

    private Arg matrix(int input) {
        Shape shape = node.shape(input);
        return expressions.reshape(
                expressions.slice(node.arg(input), 0, index, index + 1), List.of(shape.dim(1), shape.dim(2)));
    }

    /** Products with some gates' rows of the recurrent weights. */
    Arg recurrent(Arg hidden, int from, int to) {
        Arg weight = weights.computeIfAbsent(
                List.of(from, to), rows -> expressions.slice(matrix(2), 0, from * hidden(), to * hidden()));
        return node.emit(new Dense((to - from) * hidden()), hidden, weight);
    }

    /** The products of the data with the first half of the bias. */
    Arg withBias(Arg products) {
        return half(0).map(bias -> node.emit(new BiasAdd(-1), products, bias)).orElse(products);
    }

    /** Some gates' part of the second half of the bias, added. */
    Arg withRecurrentBias(Arg sum, int from, int to) {
        return half(1).map(bias -> expressions.add(sum, expressions.slice(bias, 0, from * hidden(), to * hidden())))
                .orElse(sum);
    }

    private Optional<Arg> half(int which) {
        int units = gates * hidden();
        return RecurrentImporter.bias(node, expressions, index)
                .map(both -> expressions.slice(
                        expressions.reshape(both, List.of(2 * units)), 0, which * units, (which + 1) * units));
    }

    /** The columns of a gate. */
    Arg gate(Arg all, int gate) {
        return expressions.slice(all, 1, gate * hidden(), (gate + 1) * hidden());
    }

    /** Peephole weights, from the cell state to one of the gates input, output and forget. */
    Optional<Arg> peephole(int gate) {
        return node.optional(PEEPHOLES)
                .map(value -> expressions.slice(
                        expressions.reshape(expressions.slice(value.arg(), 0, index, index + 1), List.of(3 * hidden())),
                        0,
                        gate * hidden(),
                        (gate + 1) * hidden()));
    }

    /** An activation, after the limits of {@code clip}. */
    Arg activate(int which, Arg value) {
        Arg x = node.attributes()
                .real("clip")
                .map(limit -> node.emit(new Clip(-limit, limit), value))
                .orElse(value);
        Expressions e = expressions;
        String name = activations.get(which).toLowerCase(Locale.ROOT);
        return switch (name) {
            case "sigmoid" -> e.unary(Unary.Kind.SIGMOID, x);
            case "tanh" -> e.unary(Unary.Kind.TANH, x);
            case "relu" -> node.emit(new Clip(0, Float.MAX_VALUE), x);
            case "affine" -> e.add(e.multiply(x, alpha(which, 1)), beta(which, 0));
            case "leakyrelu" -> node.emit(new LeakyRelu(alpha(which, 0.01f)), x);
            case "hardsigmoid" ->
                node.emit(new Clip(0, 1), e.add(e.multiply(x, alpha(which, 0.2f)), beta(which, 0.5f)));
            case "scaledtanh" -> e.multiply(e.unary(Unary.Kind.TANH, e.multiply(x, beta(which, 1))), alpha(which, 1));
            case "elu" -> {
                node.require(alpha(which, 1) == 1, "its activation Elu has an alpha", "1");
                yield e.unary(Unary.Kind.ELU, x);
            }
            case "softsign" -> e.divide(x, e.add(e.unary(Unary.Kind.ABS, x), e.number(1, DType.FLOAT32)));
            default ->
                throw node.failure(
                        "its activation is `" + activations.get(which) + "`",
                        "an activation of ONNX's recurrent layers");
        };
    }

    private float alpha(int which, float otherwise) {
        return parameter("activation_alpha", which, otherwise);
    }

    private float beta(int which, float otherwise) {
        return parameter("activation_beta", which, otherwise);
    }

    private float parameter(String name, int which, float otherwise) {
        List<Float> stated = node.attributes().reals(name).orElse(List.of());
        int at = index * activations.size() + which;
        return at < stated.size() ? stated.get(at) : otherwise;
    }
}
