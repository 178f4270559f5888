// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The labels of a classifier's classes: integers, or texts, of which an image has the indices.
 *
 * @param values the labels of the classes, for texts their indices
 * @param areTexts whether they are texts
 */
record Labels(List<Long> values, boolean areTexts) {
    Labels {
        values = List.copyOf(values);
    }

    /** Those that a node states, two or more, under the names of its version. */
    static Labels of(NodeContext node, String integers, String texts) {
        List<Long> numbers = node.attributes().wholes(integers).orElse(List.of());
        int named = node.attributes().texts(texts).orElse(List.of()).size();
        Labels labels =
                named > 0 ? new Labels(LongStream.range(0, named).boxed().toList(), true) : new Labels(numbers, false);
        node.require(named == 0 || numbers.isEmpty(), "it has labels of both kinds", integers + " or " + texts);
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

    /** Sets the label's output, (rows) of int64, to the labels of classes, (rows) of int32. */
    void finish(NodeContext node, Arg classes) {
        Expressions e = new Expressions(node);
        Arg label = areIndices() ? e.cast(classes, DType.INT64) : e.take(e.longs(values, Shape.of(size())), classes, 0);
        node.finish(0, label, ElementType.INT64);
    }
}
