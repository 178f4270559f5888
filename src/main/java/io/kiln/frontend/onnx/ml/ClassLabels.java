// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The labels of a classifier's classes: integers, or texts, of which an image has the indices.
 *
 * @param values the labels of the classes, for texts their indices
 * @param texts the labels, if they are texts
 */
record ClassLabels(List<Long> values, List<String> texts) {
    ClassLabels {
        values = List.copyOf(values);
        texts = List.copyOf(texts);
    }

    /** Those that a node states, two or more, under the names of its version. */
    static ClassLabels of(NodeContext node, String integers, String texts) {
        List<Long> numbers = node.wholes(integers).orElse(List.of());
        List<String> named = node.texts(texts).orElse(List.of());
        ClassLabels labels = named.isEmpty()
                ? new ClassLabels(numbers, List.of())
                : new ClassLabels(LongStream.range(0, named.size()).boxed().toList(), named);
        node.require(named.isEmpty() || numbers.isEmpty(), "it has labels of both kinds", integers + " or " + texts);
        node.require(labels.size() >= 2, "it has " + labels.size() + " class labels", "at least 2");
        return labels;
    }

    int size() {
        return values.size();
    }

    /** Whether each class has its index as label. */
    boolean areIndices() {
        return values.equals(LongStream.range(0, size()).boxed().toList());
    }

    /** Sets the outputs: the label, (rows) of int64, to the labels of classes, (rows) of int32; the scores, which have them, too. */
    void finish(NodeContext node, Arg classes, Arg scores) {
        Arg label = areIndices()
                ? node.cast(classes, DType.INT64)
                : node.take(node.longs(values, Shape.of(size())), classes, 0);
        node.finish(0, new OnnxValue(label, ElementType.INT64, Optional.empty(), texts));
        node.finish(1, new OnnxValue(scores, ElementType.FLOAT, Optional.empty(), ofElements()));
    }

    /** The labels of a score for each class, if they are more than indices. */
    private List<String> ofElements() {
        return !texts.isEmpty()
                ? texts
                : areIndices()
                        ? List.of()
                        : values.stream().map(String::valueOf).toList();
    }

    /** Sets the output of a node that makes maps from labels: the tensor stays. */
    static void zipMap(NodeContext node) {
        List<Long> integers = node.wholes("classlabels_int64s").orElse(List.of());
        List<String> texts = node.texts("classlabels_strings").orElse(List.of());
        ClassLabels labels = texts.isEmpty() ? new ClassLabels(integers, List.of()) : new ClassLabels(List.of(), texts);
        node.finish(0, new OnnxValue(node.arg(0), node.element(0), Optional.empty(), labels.ofElements()));
    }

    /** What becomes of the scores of a row, (rows, scores) of float32, in the order of operations of ONNX Runtime. */
    enum PostTransform {
        NONE,
        /** {@code 1 / (1 + exp(-score))} of each. */
        LOGISTIC,
        /** The exponentials of a row, divided by their sum. */
        SOFTMAX,
        /** {@link #SOFTMAX}, where scores near 0 count as 0. */
        SOFTMAX_ZERO,
        /** The inverse of the normal distribution's cumulative function at each, NaN outside of 0 to 1. */
        PROBIT;

        /** Scores up to this are taken for 0 by {@link #SOFTMAX_ZERO}. */
        private static final float NEARLY_ZERO = 0.0000001f;

        /** The one that a node states. */
        static PostTransform of(NodeContext node) {
            String text = node.text("post_transform", NONE.name());
            for (PostTransform each : values()) {
                if (each.name().equals(text)) {
                    return each;
                }
            }
            throw node.failure(
                    "its post_transform is `" + text + "`", "NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT");
        }

        /** The transformed scores. */
        Arg of(NodeContext node, Arg scores) {
            return switch (this) {
                case NONE -> scores;
                case LOGISTIC -> logistic(node, scores);
                case SOFTMAX -> node.emit(new Softmax(1), scores);
                case SOFTMAX_ZERO -> softmaxZero(node, scores);
                case PROBIT -> probit(node, scores);
            };
        }

        /** {@code 1 / (1 + exp(-|x|))}, and for negative x what is left of 1. */
        private static Arg logistic(Formulas e, Arg x) {
            Arg one = e.real(1);
            Arg exponential = e.exp(e.negate(e.abs(x)));
            Arg value = e.divide(one, e.add(one, exponential));
            Arg isNegative = e.less(x, e.real(0));
            return e.where(isNegative, e.subtract(one, value), value);
        }

        private static Arg softmaxZero(Formulas e, Arg x) {
            int axis = e.shape(x).rank() - 1;
            Arg largest = e.reduce(Reduce.Kind.MAX, x, List.of(axis));
            Arg exponential = e.exp(e.subtract(x, largest));
            Arg small = e.multiply(x, e.exp(e.negate(largest)));
            Arg isLarge = e.greater(e.abs(x), e.real(NEARLY_ZERO));
            Arg zero = e.real(0);
            Arg sum = e.reduce(Reduce.Kind.SUM, e.where(isLarge, exponential, zero), List.of(axis));
            return e.divide(e.where(isLarge, exponential, small), sum);
        }

        /** {@code sqrt(2) * erfinv(2x - 1)}, of which ONNX Runtime computes Winitzki's approximation. */
        private static Arg probit(Formulas e, Arg x) {
            Arg y = e.add(e.multiply(x, 2), -1);
            Arg one = e.real(1);
            Arg logarithm = e.log(e.multiply(e.subtract(one, y), e.add(one, y)));
            Arg v = e.add(e.multiply(logarithm, 0.5), e.real(2 / (3.14159f * 0.147f)));
            Arg v2 = e.multiply(logarithm, e.real(1 / 0.147f));
            Arg inner = e.sqrt(e.subtract(e.multiply(v, v), v2));
            Arg root = e.sqrt(e.subtract(inner, v));
            Arg isNegative = e.less(y, e.real(0));
            return e.multiply(e.where(isNegative, e.negate(root), root), 1.4142135f);
        }
    }
}
