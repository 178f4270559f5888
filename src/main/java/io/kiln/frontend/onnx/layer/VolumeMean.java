// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Means over the windows of a volume, so that each window is summed in one go: the rows of the data that the windows of a row of the
 * result cover become an image. Rows of the result that cover equally many rows are computed together; only those at the border differ,
 * because padding does not count.
 *
 * @param node the pool
 * @param shape of the data (N, depth, height, width, C)
 * @param windows the geometry
 */
record VolumeMean(NodeContext node, Shape shape, Spatial windows) {
    private static final int MOST_ROWS = 1 << 22;

    /** Emits the means of data. */
    Arg of(Arg data) {
        Expressions e = new Expressions(node);
        int depth = windows.output(0, shape.dim(1));
        int height = windows.output(1, shape.dim(2));
        long taps = (long) shape.dim(0)
                * depth
                * height
                * windows.kernel().get(0)
                * windows.kernel().get(1);
        node.require(taps <= MOST_ROWS, "its windows cover " + taps + " rows of the data", "at most " + MOST_ROWS);
        List<List<Integer>> results = rows(depth, height);
        Map<Integer, List<Integer>> byCount = new TreeMap<>();
        for (int i = 0; i < results.size(); i++) {
            byCount.computeIfAbsent(results.get(i).size(), n -> new ArrayList<>())
                    .add(i);
        }
        node.require(
                !byCount.containsKey(0),
                "its window at a border covers padding only",
                "padding smaller than the window");
        int[] places = new int[results.size()];
        int next = 0;
        for (List<Integer> group : byCount.values()) {
            for (int result : group) {
                places[result] = next++;
            }
        }
        Arg all = e.reshape(data, List.of(shape.dim(0) * shape.dim(1) * shape.dim(2), shape.dim(3), shape.dim(4)));
        List<Arg> parts = new ArrayList<>();
        byCount.forEach((count, group) ->
                parts.add(means(e, all, count, group.stream().map(results::get).toList())));
        Arg means = parts.get(0);
        if (parts.size() > 1) {
            means = e.take(e.concatenate(parts, 0), e.places(Shape.of(places.length), i -> places[i]), 0);
        }
        return e.reshape(
                means, List.of(shape.dim(0), depth, height, e.shape(means).dim(1), shape.dim(4)));
    }

    /** The means of rows of the result that cover equally many rows of the data: (rows, width, C). */
    private Arg means(Expressions e, Arg all, int count, List<List<Integer>> results) {
        List<Integer> taken = results.stream().flatMap(List::stream).toList();
        Arg places = e.places(Shape.of(taken.size()), taken::get);
        Arg images = e.reshape(e.take(all, places, 0), List.of(results.size(), count, shape.dim(3), shape.dim(4)));
        Window window = Window.of(count, windows.kernel().get(2))
                .strided(1, windows.strides().get(2))
                .dilated(1, windows.dilations().get(2))
                .padded(0, windows.begins().get(2), 0, windows.ends().get(2));
        Arg result = node.emit(new AvgPool2d(window), images);
        return e.reshape(result, List.of(results.size(), e.shape(result).dim(2), shape.dim(4)));
    }

    /** For each row of the result, the rows of the data that its windows cover. */
    private List<List<Integer>> rows(int depth, int height) {
        List<List<Integer>> rows = new ArrayList<>();
        for (int n = 0; n < shape.dim(0); n++) {
            for (int d = 0; d < depth; d++) {
                for (int h = 0; h < height; h++) {
                    List<Integer> covered = new ArrayList<>();
                    for (int plane : covered(0, d)) {
                        for (int row : covered(1, h)) {
                            covered.add((n * shape.dim(1) + plane) * shape.dim(2) + row);
                        }
                    }
                    rows.add(covered);
                }
            }
        }
        return rows;
    }

    /** What a window covers of the data along a dimension. */
    private List<Integer> covered(int dimension, int window) {
        int size = shape.dim(dimension + 1);
        int begin = window * windows.strides().get(dimension) - windows.begins().get(dimension);
        return IntStream.range(0, windows.kernel().get(dimension))
                .map(tap -> begin + tap * windows.dilations().get(dimension))
                .filter(place -> place >= 0 && place < size)
                .boxed()
                .toList();
    }
}
