// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reduce;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A reduction along axes; without axes along all.
 *
 * @param axesInput version from which on the axes are an input
 * @param formula the function
 */
record ReduceImporter(int axesInput, Formula formula) implements OnnxImporter {
    /** A reduction that keeps the dimensions, as 1. */
    interface Formula {
        Arg apply(Expressions e, Arg data, List<Integer> axes);
    }

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        Optional<List<Long>> stated = node.version() >= axesInput
                ? node.optional(1).map(axes -> node.integers(1, "axes"))
                : node.attributes().wholes("axes");
        boolean isNone = stated.isEmpty() || stated.orElseThrow().isEmpty();
        if (isNone && node.attributes().truth("noop_with_empty_axes", false)) {
            node.finish(node.arg(0));
            return;
        }
        List<Integer> axes = isNone
                ? IntStream.range(0, shape.rank()).boxed().toList()
                : node.axes(stated.orElseThrow(), shape.rank());
        Arg result = axes.isEmpty() ? node.arg(0) : formula.apply(e, node.arg(0), axes);
        if (!node.attributes().truth("keepdims", true)) {
            List<Integer> dims = new ArrayList<>();
            IntStream.range(0, shape.rank()).filter(i -> !axes.contains(i)).forEach(i -> dims.add(shape.dim(i)));
            result = e.reshape(result, dims);
        }
        node.finish(result);
    }
}
