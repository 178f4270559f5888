// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.stream.IntStream;

/** Steps of training that a model computes as its result: a learning rate, the number of the step, then tensors, their gradients and their states. */
final class OptimizerImporters {
    private static final String DOMAIN = "ai.onnx.preview.training";

    static final List<OnnxRegistration> ALL = List.of(
            new OnnxRegistration(DOMAIN, "Adagrad", 1, 1, OptimizerImporters::adagrad),
            new OnnxRegistration(DOMAIN, "Adam", 1, 1, OptimizerImporters::adam),
            new OnnxRegistration(DOMAIN, "Momentum", 1, 1, OptimizerImporters::momentum));

    private OptimizerImporters() {}

    /** Computes the outputs for one of the tensors. */
    private interface Step {
        /**
         * The new tensor and its new states.
         *
         * @param inputs the tensor, its gradient and its states
         */
        List<Arg> of(List<Arg> inputs);
    }

    private static void each(NodeContext node, int kinds, Step step) {
        int count = (node.inputs() - 2) / kinds;
        node.require(
                count > 0 && node.inputs() == 2 + kinds * count,
                "it has " + node.inputs() + " inputs",
                "2 and " + kinds + " for each tensor");
        for (int i = 0; i < count; i++) {
            int tensor = i;
            List<Arg> results = step.of(IntStream.range(0, kinds)
                    .mapToObj(kind -> node.arg(2 + kind * count + tensor))
                    .toList());
            for (int kind = 0; kind < results.size(); kind++) {
                node.finish(kind * count + i, results.get(kind));
            }
        }
    }

    /** The gradient with that of a penalty for large numbers. */
    private static Arg gradient(Expressions e, NodeContext node, List<Arg> inputs) {
        float penalty = node.attributes().real("norm_coefficient", 0);
        return e.add(e.multiply(inputs.get(0), penalty), inputs.get(1));
    }

    private static long steps(NodeContext node) {
        return node.integers(1, "number of the step").get(0);
    }

    /** The square root and the summand that keeps it above 0, which must be stated: ONNX's page and its tests have different defaults. */
    private static Arg root(Expressions e, NodeContext node, Arg value) {
        float epsilon = node.attributes()
                .real("epsilon")
                .orElseThrow(() -> node.attributes().missing("epsilon"));
        return e.add(e.unary(Unary.Kind.SQRT, value), epsilon);
    }

    private static void adagrad(NodeContext node) {
        Expressions e = new Expressions(node);
        float decay = node.attributes().real("decay_factor", 0);
        Arg rate = e.divide(node.arg(0), e.number(1 + steps(node) * (double) decay, DType.FLOAT32));
        each(node, 3, inputs -> {
            Arg gradient = gradient(e, node, inputs);
            Arg squares = e.add(inputs.get(2), e.multiply(gradient, gradient));
            Arg change = e.divide(e.multiply(gradient, rate), root(e, node, squares));
            return List.of(e.subtract(inputs.get(0), change), squares);
        });
    }

    private static void adam(NodeContext node) {
        Expressions e = new Expressions(node);
        float alpha = node.attributes().real("alpha", 0.9f);
        float beta = node.attributes().real("beta", 0.999f);
        double steps = steps(node);
        double bias = steps > 0 ? Math.sqrt(1 - Math.pow(beta, steps)) / (1 - Math.pow(alpha, steps)) : 1;
        Arg rate = e.multiply(node.arg(0), bias);
        float after = 1 - node.attributes().real("norm_coefficient_post", 0);
        each(node, 4, inputs -> {
            Arg gradient = gradient(e, node, inputs);
            Arg mean = e.add(e.multiply(inputs.get(2), alpha), e.multiply(gradient, 1 - alpha));
            Arg squares = e.add(e.multiply(inputs.get(3), beta), e.multiply(e.multiply(gradient, gradient), 1 - beta));
            Arg change = e.divide(e.multiply(mean, rate), root(e, node, squares));
            return List.of(e.multiply(e.subtract(inputs.get(0), change), after), mean, squares);
        });
    }

    private static void momentum(NodeContext node) {
        Expressions e = new Expressions(node);
        float alpha = node.attributes()
                .real("alpha")
                .orElseThrow(() -> node.attributes().missing("alpha"));
        float stated = node.attributes()
                .real("beta")
                .orElseThrow(() -> node.attributes().missing("beta"));
        float beta = steps(node) > 0 ? stated : 1;
        String mode = node.attributes().text("mode", "");
        node.require(
                List.of("standard", "nesterov").contains(mode), "its mode is `" + mode + "`", "standard or nesterov");
        each(node, 3, inputs -> {
            Arg gradient = gradient(e, node, inputs);
            Arg mean = e.add(e.multiply(inputs.get(2), alpha), e.multiply(gradient, beta));
            Arg direction = mode.equals("standard") ? mean : e.add(gradient, e.multiply(mean, alpha));
            return List.of(e.subtract(inputs.get(0), e.multiply(direction, node.arg(0))), mean);
        });
    }
}
