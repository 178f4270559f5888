// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
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
}
