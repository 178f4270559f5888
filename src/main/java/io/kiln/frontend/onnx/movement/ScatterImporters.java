// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Operators that replace elements selected by indices, which may be computed when the model runs, or combine them with updates. */
final class ScatterImporters {
    static final List<OnnxRegistration> ALL = List.of(
            onnx("Scatter", ScatterImporters::elements),
            onnx("ScatterElements", ScatterImporters::elements),
            onnx("ScatterND", ScatterImporters::slices),
            onnx("TensorScatter", 24, ScatterImporters::cache));

    private ScatterImporters() {}

    private static void elements(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape data = node.shape(0);
        Shape indices = node.shape(1);
        int axis = node.axis(node.attributes().whole("axis", 0), data.rank());
        node.require(
                indices.rank() == data.rank() && indices.equals(node.shape(2)),
                "its indices " + indices.text() + " and updates "
                        + node.shape(2).text() + " do not fit its data " + data.text(),
                "indices and updates of one shape, and of the data's rank");
        for (int i = 0; i < data.rank(); i++) {
            node.require(
                    i == axis || indices.dim(i) <= data.dim(i),
                    "its indices " + indices.text() + " are larger than its data " + data.text(),
                    "at most the data's size along each other dimension");
        }
        FlatIndices.requireWithin(node, 1, List.of(data.dim(axis)));
        scatter(e, node, FlatIndices.ofElements(e, node.arg(1), data, axis), 1);
    }

    private static void slices(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape data = node.shape(0);
        Shape indices = node.shape(1);
        int depth = indices.rank() == 0 ? 0 : indices.dim(-1);
        node.require(
                depth >= 1 && depth <= data.rank(),
                "its indices " + indices.text() + " do not fit its data " + data.text(),
                "1 to " + data.rank() + " indices along the last dimension");
        List<Integer> rest = data.dims().subList(depth, data.rank());
        List<Integer> expected = Stream.concat(indices.dims().subList(0, indices.rank() - 1).stream(), rest.stream())
                .toList();
        node.require(
                node.shape(2).dims().equals(expected),
                "its updates are " + node.shape(2).text(),
                new Shape(expected).text());
        FlatIndices.requireWithin(node, 1, data.dims().subList(0, depth));
        Arg places = FlatIndices.ofTuples(e, node.arg(1), data.dims().subList(0, depth));
        scatter(e, node, places, Math.toIntExact(new Shape(rest).elements()));
    }

    /** Writes rows into a cache, from an index of each batch on; a circular cache goes on at its beginning. */
    private static void cache(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape data = node.shape(0);
        Shape update = node.shape(1);
        int axis = node.axis(node.attributes().whole("axis", -2), data.rank());
        String mode = node.attributes().text("mode", "linear");
        List<Integer> expected = new ArrayList<>(data.dims());
        if (update.rank() == data.rank()) {
            expected.set(axis, Math.min(update.dim(axis), data.dim(axis)));
        }
        node.require(
                axis > 0
                        && update.dims().equals(expected)
                        && List.of("linear", "circular").contains(mode),
                "it writes " + update.text() + " into " + data.text() + " along axis " + axis + " (" + mode + ")",
                "parts of the data's shape but for an axis that is not the first, in the mode linear or circular");
        List<Integer> lines = update.dims().subList(0, axis + 1);
        int length = data.dim(axis);
        int rows = update.dim(axis);
        Arg row = e.places(Expressions.along(axis + 1, axis, rows), i -> i);
        if (node.has(2)) {
            if (mode.equals("linear")) {
                FlatIndices.requireWithin(node, 2, List.of(length - rows + 1));
            }
            row = e.add(row, e.reshape(e.indices(node.arg(2)), Expressions.along(axis + 1, 0, data.dim(0))));
        }
        if (mode.equals("circular")) {
            row = e.subtract(row, e.multiply(e.divide(row, e.number(length, DType.INT32)), length));
        }
        Arg line = e.places(new Shape(lines), i -> i / rows * length);
        int width = Math.toIntExact(new Shape(data.dims().subList(axis + 1, data.rank())).elements());
        int slices = Math.toIntExact(data.elements() / width);
        Arg scattered = node.emit(
                new ScatterNd(ScatterNd.Mode.UPDATE),
                e.reshape(node.arg(0), List.of(slices, width)),
                e.reshape(e.add(line, row), List.of(1, Math.toIntExact(new Shape(lines).elements()))),
                e.reshape(node.arg(1), List.of(Math.toIntExact(new Shape(lines).elements()), width)));
        node.finish(e.reshape(scattered, data));
    }

    /** Replaces slices of so many elements, whose places among all slices are given. */
    private static void scatter(Expressions e, NodeContext node, Arg places, int width) {
        Shape data = node.shape(0);
        if (data.elements() == 0 || e.shape(places).elements() == 0) {
            node.finish(node.arg(0));
            return;
        }
        ScatterNd.Mode mode = mode(node);
        int count = Math.toIntExact(e.shape(places).elements());
        DType dtype = e.dtype(node.arg(0));
        boolean isNarrow = mode != ScatterNd.Mode.UPDATE && !dtype.isFloat() && dtype.bytes() < DType.INT32.bytes();
        DType wide = isNarrow ? DType.INT32 : dtype;
        int slices = Math.toIntExact(data.elements() / width);
        Arg scattered = node.emit(
                new ScatterNd(mode),
                e.cast(e.reshape(node.arg(0), List.of(slices, width)), wide),
                e.reshape(places, List.of(1, count)),
                e.cast(e.reshape(node.arg(2), List.of(count, width)), wide));
        node.finish(e.reshape(e.cast(scattered, dtype), data));
    }

    private static ScatterNd.Mode mode(NodeContext node) {
        String reduction = node.attributes().text("reduction", "none");
        return switch (reduction) {
            case "none" -> ScatterNd.Mode.UPDATE;
            case "add" -> ScatterNd.Mode.ADD;
            case "mul" -> ScatterNd.Mode.MUL;
            case "min" -> ScatterNd.Mode.MIN;
            case "max" -> ScatterNd.Mode.MAX;
            default -> throw node.failure("its reduction is `" + reduction + "`", "none, add, mul, min or max");
        };
    }
}
