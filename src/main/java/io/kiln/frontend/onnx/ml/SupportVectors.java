// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.learning;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;

/** Regression by support vectors: {@code sum(coefficient * kernel(x, vector)) + rho}. */
final class SupportVectors {
    static final List<OnnxRegistration> ALL = List.of(learning("SVMRegressor", SupportVectors::regressor));

    private static final int MOST_DEGREE = 8;

    private final NodeContext node;
    private final Expressions e;
    private final Arg data;
    private final int features;
    private final List<Float> parameters;

    private SupportVectors(NodeContext node) {
        this.node = node;
        this.e = new Expressions(node);
        this.data = TreeImporters.rows(node);
        this.features = e.shape(data).dim(1);
        this.parameters = node.attributes().reals("kernel_params").orElse(List.of(0f, 0f, 0f));
        node.require(parameters.size() >= 3, "kernel_params has " + parameters.size() + " numbers", "three");
    }

    private static void regressor(NodeContext node) {
        SupportVectors machine = new SupportVectors(node);
        Expressions e = machine.e;
        long count = node.attributes().whole("n_supports", 0);
        List<Float> rho = node.attributes().reals("rho").orElse(List.of(0f));
        Arg kernels = count == 0 ? machine.data : machine.kernels(machine.list("support_vectors", count), (int) count);
        int weights = e.shape(kernels).dim(1);
        Arg sum = node.emit(
                new Dense(1), kernels, e.reals(machine.list("coefficients", 1, weights), Shape.of(1, weights)));
        node.require(!rho.isEmpty(), "rho is empty", "a number");
        Arg score = e.add(sum, rho.get(0));
        if (node.attributes().truth("one_class", false)) {
            Arg isInside = e.binary(Binary.Kind.GREATER, score, e.number(0, DType.FLOAT32));
            score = e.where(isInside, e.number(1, DType.FLOAT32), e.number(-1, DType.FLOAT32));
        }
        PostTransform transform = PostTransform.of(node);
        node.finish(0, transform == PostTransform.PROBIT ? transform.of(node, score) : score, ElementType.FLOAT);
    }

    private float[] list(String name, long rows) {
        return list(name, rows, features);
    }

    private float[] list(String name, long rows, int columns) {
        List<Float> values = node.attributes()
                .reals(name)
                .orElseThrow(() -> node.attributes().missing(name));
        node.require(
                rows >= 1 && values.size() == rows * columns,
                "`" + name + "` has " + values.size() + " numbers",
                rows + " times " + columns);
        return LinearImporters.floats(values);
    }

    /** The kernel of each row and each vector. */
    private Arg kernels(float[] vectors, int count) {
        String kind = node.attributes().text("kernel_type", "LINEAR");
        if (kind.equals("RBF")) {
            int rows = e.shape(data).dim(0);
            e.tableOf(rows, vectors.length);
            Arg difference = e.subtract(
                    e.reshape(data, List.of(rows, 1, features)), e.reals(vectors, Shape.of(1, count, features)));
            Arg squares = e.reduce(Reduce.Kind.SUM, e.multiply(difference, difference), List.of(2));
            return e.unary(Unary.Kind.EXP, e.multiply(e.reshape(squares, List.of(rows, count)), -parameters.get(0)));
        }
        Arg products = node.emit(new Dense(count), data, e.reals(vectors, Shape.of(count, features)));
        return switch (kind) {
            case "LINEAR" -> products;
            case "POLY" -> power(scaled(products));
            case "SIGMOID" -> e.unary(Unary.Kind.TANH, scaled(products));
            default -> throw node.failure("its kernel_type is `" + kind + "`", "LINEAR, POLY, RBF or SIGMOID");
        };
    }

    private Arg scaled(Arg products) {
        return e.add(e.multiply(products, parameters.get(0)), parameters.get(1));
    }

    private Arg power(Arg base) {
        float degree = parameters.get(2);
        node.require(
                degree >= 1 && degree <= MOST_DEGREE && degree == Math.rint(degree),
                "the degree of its kernel is " + degree,
                "a whole number up to " + MOST_DEGREE);
        Arg power = base;
        for (int i = 1; i < degree; i++) {
            power = e.multiply(power, base);
        }
        return power;
    }
}
