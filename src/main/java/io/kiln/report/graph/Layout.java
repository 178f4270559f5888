// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import io.kiln.report.graph.Graph.Edge;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The positions of a graph's blocks and lines in a picture. Blocks lie in layers from top to bottom, each below all that it reads. Lines run down
 * through the gaps between layers; lines that pass a layer run in lanes to the right of all blocks. No line crosses a block.
 *
 * @param blocks rectangles, in the order of the graph's blocks
 * @param routes corners of each line, in the order of the graph's edges
 * @param width of the picture
 * @param height of the picture
 */
public record Layout(List<Rect> blocks, List<List<Point>> routes, int width, int height) {
    private static final int MARGIN = 16;
    private static final int BESIDE = 24;

    public Layout {
        blocks = List.copyOf(blocks);
        routes = routes.stream().map(List::copyOf).toList();
    }

    /** A rectangle in pixels. */
    public record Rect(int x, int y, int width, int height) {
        int bottom() {
            return y + height;
        }

        int centre() {
            return x + width / 2;
        }
    }

    /** A position in pixels. */
    public record Point(int x, int y) {}

    /** Computes the positions of a graph. */
    public static Layout of(Graph graph) {
        int[] layers = layers(graph);
        int[] left = columns(graph, layers);
        Router router = new Router(graph, layers, left);
        int[] tops = new int[router.layerCount()];
        int y = MARGIN;
        for (int layer = 0; layer < tops.length; layer++) {
            tops[layer] = y;
            y += router.layerHeight(layer) + router.gapHeight(layer);
        }
        List<Rect> rects = new ArrayList<>();
        for (int i = 0; i < left.length; i++) {
            Graph.Block block = graph.blocks().get(i);
            rects.add(new Rect(left[i], tops[layers[i]], Sizes.width(block), Sizes.height(block)));
        }
        return new Layout(rects, router.routes(rects, tops), router.right() + MARGIN, y + MARGIN);
    }

    /** The layer of each block is its longest path from a block without inputs; variables are placed above their first reader. */
    private static int[] layers(Graph graph) {
        int[] layers = new int[graph.blocks().size()];
        List<List<Integer>> sources = sources(graph);
        for (int i = 0; i < layers.length; i++) {
            for (int source : sources.get(i)) {
                layers[i] = Math.max(layers[i], layers[source] + 1);
            }
        }
        List<List<Integer>> readers = readers(graph);
        for (int i = 0; i < layers.length; i++) {
            if (isVariable(graph, i)) {
                layers[i] = readers.get(i).stream()
                        .mapToInt(reader -> layers[reader] - 1)
                        .min()
                        .orElse(0);
            }
        }
        return layers;
    }

    private static boolean isVariable(Graph graph, int block) {
        return graph.blocks().get(block).kind() == Graph.Kind.VARIABLE;
    }

    private static List<List<Integer>> readers(Graph graph) {
        List<List<Integer>> readers = new ArrayList<>();
        graph.blocks().forEach(block -> readers.add(new ArrayList<>()));
        graph.edges().forEach(edge -> readers.get(edge.from()).add(edge.to()));
        return readers;
    }

    private static List<List<Integer>> sources(Graph graph) {
        List<List<Integer>> sources = new ArrayList<>();
        graph.blocks().forEach(block -> sources.add(new ArrayList<>()));
        for (Edge edge : graph.edges()) {
            sources.get(edge.to()).add(edge.from());
        }
        return sources;
    }

    /** The left edges of blocks. Every block is centred below what it reads, or placed next to the other inputs of its reader. */
    private static int[] columns(Graph graph, int[] layers) {
        int count = layers.length;
        int[] left = new int[count];
        double[] wanted = new double[count];
        List<List<Integer>> sources = sources(graph);
        List<List<Integer>> readers = readers(graph);
        List<List<Integer>> byLayer = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            while (byLayer.size() <= layers[i]) {
                byLayer.add(new ArrayList<>());
            }
            byLayer.get(layers[i]).add(i);
        }
        for (List<Integer> layer : byLayer) {
            for (int block : layer) {
                wanted[block] = sources.get(block).stream()
                        .mapToInt(s -> left[s] + Sizes.width(graph.blocks().get(s)) / 2)
                        .average()
                        .orElse(0);
            }
            besideOthers(graph, layer, layers, wanted, sources, readers);
            layer.sort(Comparator.comparingDouble(block -> wanted[block]));
            place(graph, layer, wanted, left);
        }
        int leftmost = Integer.MAX_VALUE;
        for (int x : left) {
            leftmost = Math.min(leftmost, x);
        }
        for (int i = 0; i < count; i++) {
            left[i] += MARGIN - leftmost;
        }
        return left;
    }

    /** A variable is placed next to other blocks of its layer that its first reader reads. */
    private static void besideOthers(
            Graph graph,
            List<Integer> layer,
            int[] layers,
            double[] wanted,
            List<List<Integer>> sources,
            List<List<Integer>> readers) {
        Map<Integer, Double> places = new HashMap<>();
        for (int block : layer) {
            if (isVariable(graph, block) && !readers.get(block).isEmpty()) {
                wanted[block] = places.computeIfAbsent(
                        readers.get(block).get(0),
                        reader -> sources.get(reader).stream()
                                .filter(other -> layers[other] == layers[block] && !isVariable(graph, other))
                                .mapToDouble(other -> wanted[other])
                                .average()
                                .orElse(0));
            }
        }
    }

    /** Places one layer from left to right without overlaps, then shifts it so that on average blocks are where they want to be. */
    private static void place(Graph graph, List<Integer> layer, double[] wanted, int[] left) {
        int free = Integer.MIN_VALUE;
        double moved = 0;
        for (int block : layer) {
            int width = Sizes.width(graph.blocks().get(block));
            left[block] = Math.max(free, (int) wanted[block] - width / 2);
            free = left[block] + width + BESIDE;
            moved += left[block] + width / 2 - (int) wanted[block];
        }
        int back = (int) (moved / layer.size());
        layer.forEach(block -> left[block] -= back);
    }
}
