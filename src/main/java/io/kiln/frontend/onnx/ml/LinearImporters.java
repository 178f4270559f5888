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
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.type.Shape;
import java.util.List;

/** Linear models: products of the data with coefficients, and intercepts. */
final class LinearImporters {
    static final List<OnnxRegistration> ALL = List.of(
            learning("LinearRegressor", LinearImporters::regressor),
            learning("LinearClassifier", LinearImporters::classifier));

    private LinearImporters() {}

    private static void regressor(NodeContext node) {
        long targets = node.attributes().whole("targets", 1);
        Arg scores = scores(node, targets);
        PostTransform transform = PostTransform.of(node);
        boolean isTransformed = targets > 1 || transform == PostTransform.PROBIT;
        node.finish(0, isTransformed ? transform.of(node, scores) : scores, ElementType.FLOAT);
    }

    /** {@code data * coefficients^T + intercepts}, (rows, count). */
    private static Arg scores(NodeContext node, long count) {
        Expressions e = new Expressions(node);
        Arg data = TreeImporters.rows(node);
        int features = e.shape(data).dim(1);
        List<Float> coefficients = node.attributes()
                .reals("coefficients")
                .orElseThrow(() -> node.attributes().missing("coefficients"));
        node.require(
                count >= 1 && count <= coefficients.size() && coefficients.size() == count * features,
                "it has " + coefficients.size() + " coefficients for " + count + " scores of " + features + " features",
                "one for each score and feature");
        List<Float> intercepts = node.attributes().reals("intercepts").orElse(List.of());
        node.require(
                intercepts.isEmpty() || intercepts.size() == count,
                "it has " + intercepts.size() + " intercepts for " + count + " scores",
                "none, or one for each");
        Arg product =
                node.emit(new Dense((int) count), data, e.reals(floats(coefficients), Shape.of((int) count, features)));
        return intercepts.isEmpty()
                ? product
                : node.emit(new BiasAdd(-1), product, e.reals(floats(intercepts), Shape.of((int) count)));
    }

    /** The numbers as an array. */
    static float[] floats(List<Float> values) {
        float[] floats = new float[values.size()];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = values.get(i);
        }
        return floats;
    }

    private static void classifier(NodeContext node) {
        Expressions e = new Expressions(node);
        ClassLabels labels = ClassLabels.of(node, "classlabels_ints", "classlabels_strings");
        PostTransform transform = PostTransform.of(node);
        int features = e.shape(TreeImporters.rows(node)).dim(1);
        int coefficients =
                node.attributes().reals("coefficients").orElse(List.of()).size();
        int count = features == 0 ? 0 : coefficients / features;
        Arg scores = scores(node, count);
        if (count == 1 && labels.size() == 2) {
            Arg isSecond = e.binary(Binary.Kind.GREATER, scores, e.number(0, DType.FLOAT32));
            Arg classes = e.reshape(
                    e.cast(isSecond, DType.INT32), List.of(e.shape(scores).dim(0)));
            node.require(
                    transform == PostTransform.NONE || transform == PostTransform.LOGISTIC,
                    "its post_transform of one score for two classes is " + transform,
                    "NONE or LOGISTIC");
            Arg second = transform.of(node, scores);
            Arg first = e.subtract(e.number(1, DType.FLOAT32), second);
            labels.finish(node, classes, e.concatenate(List.of(first, second), 1));
            return;
        }
        node.require(
                count == labels.size(),
                "it has coefficients for " + count + " scores and " + labels.size() + " class labels",
                "a score for each class");
        labels.finish(node, node.emit(new ArgReduce(true, 1), scores), transform.of(node, scores));
    }
}
