// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import io.kiln.report.graph.Graph.Block;
import io.kiln.report.graph.Graph.Box;
import io.kiln.report.graph.Layout.Point;
import io.kiln.report.graph.Layout.Rect;
import io.kiln.report.graph.Layout.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a template draws of a graph.
 *
 * @param width in pixels
 * @param height in pixels
 * @param shapes frames and boxes, each after the frame around it
 * @param lines corners of each line, as an SVG has them
 */
public record GraphPicture(int width, int height, List<Shape> shapes, List<String> lines) {
    public GraphPicture {
        shapes = List.copyOf(shapes);
        lines = List.copyOf(lines);
    }

    /**
     * A rectangle with text.
     *
     * @param style its class
     */
    public record Shape(String style, String tooltip, Rect rect, List<Text> texts) {
        public Shape {
            texts = List.copyOf(texts);
        }
    }

    /**
     * A line of text, cut to what a shape holds.
     *
     * @param style its class; empty for none
     */
    public record Text(String style, int x, int y, String text) {}

    /** The picture of a graph; equal graphs have equal pictures. */
    public static GraphPicture of(Graph graph) {
        Layout layout = Layout.of(graph);
        List<Shape> shapes = new ArrayList<>();
        List<List<Point>> lines = new ArrayList<>();
        for (int i = 0; i < graph.blocks().size(); i++) {
            Block block = graph.blocks().get(i);
            Rect rect = layout.blocks().get(i);
            if (block.isFramed()) {
                framed(block, rect, shapes, lines);
            } else {
                shapes.add(box(block, block.boxes().get(0), rect));
            }
        }
        lines.addAll(layout.routes());
        return new GraphPicture(
                layout.width(),
                layout.height(),
                shapes,
                lines.stream().map(GraphPicture::corners).toList());
    }

    private static void framed(Block block, Rect rect, List<Shape> shapes, List<List<Point>> lines) {
        String caption = Sizes.cut(Sizes.cutInside(block.caption()));
        shapes.add(new Shape(
                "frame",
                block.tooltip(),
                rect,
                List.of(new Text("caption", rect.x() + Sizes.PADDING, rect.y() + Sizes.LINE - 2, caption))));
        int y = rect.y() + Sizes.CAPTION;
        for (Box box : block.boxes()) {
            int height = Sizes.height(box);
            Rect inner = new Rect(rect.x() + Sizes.PADDING, y, rect.width() - 2 * Sizes.PADDING, height);
            if (y > rect.y() + Sizes.CAPTION) {
                lines.add(List.of(new Point(inner.centre(), y - Sizes.INNER_GAP), new Point(inner.centre(), y)));
            }
            shapes.add(box(block, box, inner));
            y += height + Sizes.INNER_GAP;
        }
    }

    private static Shape box(Block block, Box box, Rect rect) {
        String style = block.kind() == Graph.Kind.OPERATOR
                ? "box"
                : block.kind().name().toLowerCase(Locale.ROOT);
        List<Text> texts = IntStream.range(0, box.lines().size())
                .mapToObj(i -> new Text(
                        i == 0 ? "name" : "",
                        rect.x() + Sizes.PADDING,
                        rect.y() + Sizes.LINE * (i + 1),
                        Sizes.cut(box.lines().get(i))))
                .toList();
        return new Shape(style, box.tooltip(), rect, texts);
    }

    private static String corners(List<Point> line) {
        return line.stream().map(p -> p.x() + "," + p.y()).collect(Collectors.joining(" "));
    }
}
