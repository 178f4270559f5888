// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Operators that select elements by indices, which may be computed when the model runs. */
final class GatherImporters {
    static final List<OnnxRegistration> ALL = List.of(
            onnx("Gather", GatherImporters::gather),
            onnx("GatherElements", GatherImporters::gatherElements),
            onnx("GatherND", GatherImporters::gatherNd),
            onnx("GridSample", new GridSampleImporter()));

    private GatherImporters() {}

    private static void gather(NodeContext node) {
        Expressions e = new Expressions(node);
        int axis = node.axis(node.attributes().whole("axis", 0), node.shape(0).rank());
        FlatIndices.requireWithin(node, 1, List.of(node.shape(0).dim(axis)));
        Arg indices = FlatIndices.counted(e, node.arg(1), node.shape(0).dim(axis));
        node.finish(e.take(node.arg(0), indices, axis));
    }

    private static void gatherElements(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape data = node.shape(0);
        int axis = node.axis(node.attributes().whole("axis", 0), data.rank());
        FlatIndices.requireWithin(node, 1, List.of(data.dim(axis)));
        Arg indices = FlatIndices.ofElements(e, node.arg(1), data, axis);
        node.finish(e.take(FlatIndices.flat(e, node.arg(0)), indices, 0));
    }

    private static void gatherNd(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape data = node.shape(0);
        Shape indices = node.shape(1);
        int batch = (int) Math.max(0, Math.min(node.attributes().whole("batch_dims", 0), data.rank()));
        int depth = indices.dim(-1);
        node.require(
                batch + depth <= data.rank() && batch < indices.rank(),
                "its indices " + indices.text() + " do not fit its data " + data.text(),
                "at most " + (data.rank() - batch) + " indices");
        List<Integer> inner = data.dims().subList(batch, batch + depth);
        FlatIndices.requireWithin(node, 1, inner);
        List<Integer> rest = data.dims().subList(batch + depth, data.rank());
        int slots = inner.stream().reduce(1, (a, b) -> a * b);
        List<Integer> dims = new ArrayList<>(data.dims().subList(0, batch));
        dims.add(slots);
        dims.addAll(rest);
        Arg flat = FlatIndices.ofTuples(e, node.arg(1), inner);
        node.finish(node.emit(new Take(batch, batch), e.reshape(node.arg(0), dims), flat));
    }
}
