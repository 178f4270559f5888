// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import io.kiln.report.graph.Graph.Block;
import io.kiln.report.graph.Graph.Box;
import io.kiln.report.graph.Graph.Edge;
import io.kiln.report.graph.Layout.Point;
import io.kiln.report.graph.Layout.Rect;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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

    /**
     * Routes lines from the middle of a block's lower edge to a reader's upper edge. A line enters the gap below its
     * block's layer and ends in the gap above its reader's layer. If these differ, a lane beside all blocks joins them.
     * Lanes, and the tracks in a gap, are shared only by lines of one block or where they do not meet.
     */
    private static final class Router {
        private static final int LANE = 12;
        private static final int TRACK = 8;
        private static final int GAP = 24;

        private final List<Edge> edges;
        private final int[] layers;
        private final int[] heights;
        private final int[] from;
        private final int[] to;
        private final int[] lanes;
        private final int right;
        private final List<Tracks> gaps = new ArrayList<>();

        /** Assigns lanes and tracks; only the vertical positions of layers are still open. */
        Router(Graph graph, int[] layers, int[] left) {
            this.edges = graph.edges();
            this.layers = layers;
            this.from = new int[edges.size()];
            this.to = new int[edges.size()];
            this.lanes = new int[edges.size()];
            int lowest = 0;
            int widest = 0;
            for (int i = 0; i < layers.length; i++) {
                lowest = Math.max(lowest, layers[i]);
                widest = Math.max(widest, left[i] + Sizes.width(graph.blocks().get(i)));
            }
            heights = new int[lowest + 1];
            for (int i = 0; i < layers.length; i++) {
                heights[layers[i]] =
                        Math.max(heights[layers[i]], Sizes.height(graph.blocks().get(i)));
            }
            for (int layer = 0; layer <= lowest; layer++) {
                gaps.add(new Tracks());
            }
            findPorts(graph, left);
            right = widest + LANE * (1 + findLanes(widest));
            fillGaps();
        }

        int layerCount() {
            return heights.length;
        }

        int layerHeight(int layer) {
            return heights[layer];
        }

        /** Height of the gap below a layer. */
        int gapHeight(int layer) {
            return GAP + TRACK * gaps.get(layer).count();
        }

        /** Right edge of the picture. */
        int right() {
            return right;
        }

        private void findPorts(Graph graph, int[] left) {
            Map<Integer, List<Integer>> byReader = new TreeMap<>();
            for (int i = 0; i < edges.size(); i++) {
                int source = edges.get(i).from();
                from[i] = left[source] + Sizes.width(graph.blocks().get(source)) / 2;
                byReader.computeIfAbsent(edges.get(i).to(), key -> new ArrayList<>())
                        .add(i);
            }
            byReader.forEach((reader, incoming) -> {
                // Lines from a lane end on the right; the others are ordered by where they come from.
                incoming.sort(
                        Comparator.<Integer, Boolean>comparing(this::isLong).thenComparing(i -> from[i]));
                int width = Sizes.width(graph.blocks().get(reader));
                for (int k = 0; k < incoming.size(); k++) {
                    to[incoming.get(k)] = left[reader] + width * (k + 1) / (incoming.size() + 1);
                }
            });
        }

        private boolean isLong(int edge) {
            return layers[edges.get(edge).to()] - layers[edges.get(edge).from()] > 1;
        }

        /** Assigns a lane to each block whose value passes a layer, for as long as it is read; returns the number of lanes. */
        private int findLanes(int widest) {
            Tracks tracks = new Tracks();
            Map<Integer, Integer> lastLayer = new TreeMap<>();
            for (int i = 0; i < edges.size(); i++) {
                if (isLong(i)) {
                    lastLayer.merge(edges.get(i).from(), layers[edges.get(i).to()], Math::max);
                }
            }
            Map<Integer, Integer> laneBySource = new HashMap<>();
            lastLayer.forEach((source, last) -> laneBySource.put(source, tracks.add(source, layers[source], last)));
            for (int i = 0; i < edges.size(); i++) {
                lanes[i] = isLong(i)
                        ? widest + LANE * (1 + laneBySource.get(edges.get(i).from()))
                        : 0;
            }
            return tracks.count();
        }

        private void fillGaps() {
            for (int i = 0; i < edges.size(); i++) {
                Edge edge = edges.get(i);
                if (isLong(i)) {
                    gaps.get(layers[edge.from()]).add(edge.from(), from[i], lanes[i]);
                    gaps.get(layers[edge.to()] - 1).add(edge.from(), to[i], lanes[i]);
                } else if (from[i] != to[i]) {
                    gaps.get(layers[edge.from()]).add(edge.from(), from[i], to[i]);
                }
            }
        }

        /** The corners of every line. */
        List<List<Point>> routes(List<Rect> rects, int[] tops) {
            List<List<Point>> routes = new ArrayList<>();
            for (int i = 0; i < edges.size(); i++) {
                Edge edge = edges.get(i);
                Rect source = rects.get(edge.from());
                Rect reader = rects.get(edge.to());
                List<Point> route = new ArrayList<>();
                route.add(new Point(from[i], source.bottom()));
                if (isLong(i)) {
                    turn(route, track(layers[edge.from()], edge.from(), from[i], lanes[i], tops), lanes[i]);
                    turn(route, track(layers[edge.to()] - 1, edge.from(), to[i], lanes[i], tops), to[i]);
                } else if (from[i] != to[i]) {
                    turn(route, track(layers[edge.from()], edge.from(), from[i], to[i], tops), to[i]);
                }
                route.add(new Point(to[i], reader.y()));
                routes.add(route);
            }
            return routes;
        }

        private static void turn(List<Point> route, int y, int x) {
            route.add(new Point(route.get(route.size() - 1).x(), y));
            route.add(new Point(x, y));
        }

        private int track(int gap, int source, int a, int b, int[] tops) {
            return tops[gap] + heights[gap] + GAP / 2 + TRACK * gaps.get(gap).of(source, a, b);
        }

        /** Parallel tracks; a stretch goes to the first track on which it meets no other block's. */
        private static final class Tracks {
            private final List<List<Stretch>> tracks = new ArrayList<>();

            private record Stretch(int owner, int low, int high) {}

            /** Finds a track for a stretch and returns its number. */
            int add(int owner, int a, int b) {
                Stretch stretch = new Stretch(owner, Math.min(a, b), Math.max(a, b));
                for (int track = 0; track < tracks.size(); track++) {
                    if (tracks.get(track).stream().noneMatch(other -> meet(stretch, other))) {
                        tracks.get(track).add(stretch);
                        return track;
                    }
                }
                tracks.add(new ArrayList<>(List.of(stretch)));
                return tracks.size() - 1;
            }

            /** The track of a stretch. */
            int of(int owner, int a, int b) {
                Stretch stretch = new Stretch(owner, Math.min(a, b), Math.max(a, b));
                for (int track = 0; track < tracks.size(); track++) {
                    if (tracks.get(track).contains(stretch)) {
                        return track;
                    }
                }
                throw new IllegalStateException("no track for " + stretch);
            }

            int count() {
                return tracks.size();
            }

            private static boolean meet(Stretch a, Stretch b) {
                return a.owner != b.owner && a.low <= b.high && b.low <= a.high;
            }
        }
    }

    /** Sizes in pixels, computed from the width of a fixed-width font. */
    static final class Sizes {
        static final int LINE = 16;
        static final int PADDING = 8;

        /** Gap between the boxes of a frame. */
        static final int INNER_GAP = 10;

        /** Height of a frame's caption. */
        static final int CAPTION = 20;

        /** Longest text in characters; longer text is cut in the picture and complete in the tooltip. */
        static final int MAX_LETTERS = 64;

        /** Width of a character: more than the 0.6 of a 12 pixel font, for wider fonts. */
        private static final double LETTER = 7.5;

        private Sizes() {}

        static int width(Block block) {
            int widest = block.boxes().stream().mapToInt(Sizes::width).max().orElse(0);
            return block.isFramed() ? Math.max(widest, text(block.caption())) + 2 * PADDING : widest;
        }

        static int height(Block block) {
            int boxes = block.boxes().stream().mapToInt(Sizes::height).sum();
            return block.isFramed() ? CAPTION + boxes + (block.boxes().size() - 1) * INNER_GAP + PADDING : boxes;
        }

        static int height(Box box) {
            return box.lines().size() * LINE + PADDING;
        }

        /** Text, cut for the picture. */
        static String cut(String text) {
            return text.codePointCount(0, text.length()) <= MAX_LETTERS
                    ? text
                    : text.substring(0, text.offsetByCodePoints(0, MAX_LETTERS - 1)) + "…";
        }

        /** A name, cut in the middle for the picture because names differ at their ends. */
        static String cutInside(String name) {
            int letters = name.codePointCount(0, name.length());
            int head = MAX_LETTERS / 2;
            return letters <= MAX_LETTERS
                    ? name
                    : name.substring(0, name.offsetByCodePoints(0, head)) + "…"
                            + name.substring(name.offsetByCodePoints(0, letters - MAX_LETTERS + head + 1));
        }

        private static int width(Box box) {
            return box.lines().stream().mapToInt(Sizes::text).max().orElse(0);
        }

        private static int text(String text) {
            String shown = cut(text);
            return (int) Math.ceil(shown.codePointCount(0, shown.length()) * LETTER) + 2 * PADDING;
        }
    }
}
