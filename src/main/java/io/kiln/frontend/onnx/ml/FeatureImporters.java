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
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** What prepares numeric features: scales, norms, thresholds, missing values, selections. */
final class FeatureImporters {
    static final List<OnnxRegistration> ALL = List.of(
            learning("Scaler", FeatureImporters::scaler),
            learning("Normalizer", FeatureImporters::normalizer),
            learning("Binarizer", FeatureImporters::binarizer),
            learning("Imputer", FeatureImporters::imputer),
            learning("ArrayFeatureExtractor", FeatureImporters::extractor),
            learning("FeatureVectorizer", FeatureImporters::vectorizer),
            learning("ZipMap", ClassLabels::zipMap));

    private FeatureImporters() {}

    private static Arg reals(NodeContext node) {
        return new Expressions(node).cast(node.arg(0), DType.FLOAT32);
    }

    /** Numbers for the features, or one for all. */
    private static Arg perFeature(NodeContext node, String name, List<Float> values) {
        Shape shape = node.shape(0);
        int features = shape.rank() == 0 ? 1 : shape.dim(-1);
        node.require(
                values.size() == 1 || values.size() == features,
                "`" + name + "` has " + values.size() + " numbers for " + features + " features",
                "one, or one for each");
        return new Expressions(node).reals(LinearImporters.floats(values), Shape.of(values.size()));
    }

    private static void scaler(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg offset =
                perFeature(node, "offset", node.attributes().reals("offset").orElse(List.of(0f)));
        Arg scale = perFeature(node, "scale", node.attributes().reals("scale").orElse(List.of(1f)));
        node.finish(0, e.multiply(e.subtract(reals(node), offset), scale), ElementType.FLOAT);
    }

    /** Divides rows by a norm; a row whose norm is 0 stays. The norm MAX is the largest number, with its sign. */
    private static void normalizer(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = reals(node);
        List<Integer> axis = List.of(e.shape(data).rank() - 1);
        String kind = node.attributes().text("norm", "MAX");
        Arg norm = switch (kind) {
            case "MAX" -> e.reduce(Reduce.Kind.MAX, data, axis);
            case "L1" -> e.reduce(Reduce.Kind.SUM, e.unary(Unary.Kind.ABS, data), axis);
            case "L2" -> e.unary(Unary.Kind.SQRT, e.reduce(Reduce.Kind.SUM, e.multiply(data, data), axis));
            default -> throw node.failure("its norm is `" + kind + "`", "MAX, L1 or L2");
        };
        Arg isZero = e.binary(Binary.Kind.EQUAL, norm, e.number(0, DType.FLOAT32));
        Arg divisor = e.where(isZero, e.number(1, DType.FLOAT32), norm);
        node.finish(0, e.divide(data, divisor), ElementType.FLOAT);
    }

    private static void binarizer(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg limit = e.number(node.attributes().real("threshold", 0), DType.FLOAT32);
        Arg isAbove = e.binary(Binary.Kind.GREATER, reals(node), limit);
        node.finish(0, e.cast(isAbove, DType.FLOAT32), ElementType.FLOAT);
    }

    private static void imputer(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = node.arg(0);
        if (e.dtype(data) == DType.FLOAT32) {
            float replaced = node.attributes().real("replaced_value_float", 0);
            Arg imputed = perFeature(
                    node,
                    "imputed_value_floats",
                    node.attributes()
                            .reals("imputed_value_floats")
                            .orElseThrow(() -> node.attributes().missing("imputed_value_floats")));
            Arg isReplaced = Float.isNaN(replaced)
                    ? e.binary(Binary.Kind.NOT_EQUAL, data, data)
                    : e.binary(Binary.Kind.EQUAL, data, e.number(replaced, DType.FLOAT32));
            node.finish(e.where(isReplaced, imputed, data));
            return;
        }
        List<Long> imputed = node.attributes().requiredWholes("imputed_value_int64s");
        int features = node.shape(0).dim(-1);
        node.require(
                imputed.size() == 1 || imputed.size() == features,
                "`imputed_value_int64s` has " + imputed.size() + " numbers for " + features + " features",
                "one, or one for each");
        Arg wide = e.cast(data, DType.INT64);
        Arg isReplaced = e.binary(
                Binary.Kind.EQUAL,
                wide,
                e.longs(List.of(node.attributes().whole("replaced_value_int64", 0)), Shape.of(1)));
        Arg result = e.where(isReplaced, e.longs(imputed, Shape.of(imputed.size())), wide);
        node.finish(e.cast(result, e.dtype(data)));
    }

    private static void extractor(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        List<Long> indices = node.integers(1, "indices");
        int size = shape.dim(-1);
        indices.forEach(index -> node.require(
                index >= 0 && index < size, "an index is " + index + " of " + size, "an index of the data"));
        Arg places = e.ints(indices.stream().map(Long::intValue).toList(), Shape.of(indices.size()));
        Arg taken = e.take(node.arg(0), places, shape.rank() - 1);
        node.finish(shape.rank() == 1 ? e.reshape(taken, List.of(1, indices.size())) : taken);
    }

    /** The inputs side by side, each cut or filled up with zeros to its stated number of columns. */
    private static void vectorizer(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Long> widths = node.attributes().wholes("inputdimensions").orElse(List.of());
        node.require(
                widths.isEmpty() || widths.size() == node.inputs(),
                "it has " + widths.size() + " inputdimensions for " + node.inputs() + " inputs",
                "one for each");
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < node.inputs(); i++) {
            Shape shape = node.shape(i);
            node.require(shape.rank() <= 2 && shape.rank() > 0, "an input is " + shape.text(), "rows of numbers");
            Arg rows = e.reshape(
                    e.cast(node.arg(i), DType.FLOAT32), shape.rank() == 2 ? shape : Shape.of(1, shape.dim(0)));
            int columns = e.shape(rows).dim(1);
            long width = widths.isEmpty() ? columns : widths.get(i);
            node.require(width >= 1, "an input has " + width + " columns", "1 or more");
            parts.add(e.slice(rows, 1, 0, (int) Math.min(columns, width)));
            if (width > columns) {
                int missing = e.tableOf(e.shape(rows).dim(0), width - columns);
                parts.add(e.reals(new float[missing], Shape.of(e.shape(rows).dim(0), (int) width - columns)));
            }
        }
        node.finish(0, e.concatenate(parts, 1), ElementType.FLOAT);
    }
}
