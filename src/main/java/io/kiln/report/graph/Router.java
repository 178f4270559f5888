// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

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
 * Routes lines from the middle of a block's lower edge to a reader's upper edge. A line enters the gap below its
 * block's layer and ends in the gap above its reader's layer. If these differ, a lane beside all blocks joins them.
 * Lanes, and the tracks in a gap, are shared only by lines of one block or where they do not meet.
 */
final class Router {
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
            incoming.sort(Comparator.<Integer, Boolean>comparing(this::isLong).thenComparing(i -> from[i]));
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
