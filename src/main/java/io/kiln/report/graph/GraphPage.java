// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import io.kiln.report.graph.Graph.Block;
import io.kiln.report.graph.Graph.Box;
import io.kiln.report.graph.Layout.Point;
import io.kiln.report.graph.Layout.Rect;
import io.kiln.report.page.Xhtml;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A graph as one page of XHTML with an SVG in it: well-formed XML that loads no resources and has no scripts. */
public final class GraphPage {
    private final Graph graph;
    private final Layout layout;
    private final StringBuilder out;

    private GraphPage(Graph graph, StringBuilder out) {
        this.out = out;
        this.graph = graph;
        this.layout = Layout.of(graph);
    }

    /** The page; equal graphs give equal bytes. */
    public static String of(Graph graph) {
        return Xhtml.head(graph.title()) + arrow() + pictures(graph, "h1", "h2") + Xhtml.foot();
    }

    /** The definition of the arrow at the end of lines, which a page needs once before its pictures. */
    public static String arrow() {
        return "<svg class=\"defs\" xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"0\"><defs>"
                + "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\""
                + " orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs></svg>\n";
    }

    /**
     * A graph under its heading, followed by the graphs that it calls, for a page that has the {@link #arrow}.
     *
     * @param heading name of the heading's element
     * @param called that of the graphs that it calls
     */
    public static String pictures(Graph graph, String heading, String called) {
        StringBuilder out = new StringBuilder();
        pictures(graph, heading, called, out);
        return out.toString();
    }

    private static void pictures(Graph graph, String heading, String called, StringBuilder out) {
        GraphPage page = new GraphPage(graph, out);
        page.heading(heading);
        out.append("<div class=\"scroll\">");
        page.svg();
        out.append("</div>\n");
        graph.called().forEach(each -> pictures(each, called, called, out));
    }

    private void heading(String level) {
        line("<%s>%s</%s>", level, Xhtml.escape(graph.title()), level);
        graph.summary()
                .forEach(line -> out.append("<p>").append(Xhtml.escape(line)).append("</p>\n"));
    }

    private void svg() {
        line(
                "<svg class=\"graph\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">",
                layout.width(), layout.height(), layout.width(), layout.height());
        for (int i = 0; i < graph.blocks().size(); i++) {
            block(graph.blocks().get(i), layout.blocks().get(i));
        }
        layout.routes().forEach(this::edge);
        out.append("</svg>\n");
    }

    private void block(Block block, Rect rect) {
        if (!block.isFramed()) {
            box(block.boxes().get(0), style(block), rect);
            return;
        }
        out.append("<g><title>").append(Xhtml.escape(block.tooltip())).append("</title>\n");
        rect("frame", rect);
        text("caption", rect.x() + Sizes.PADDING, rect.y() + Sizes.LINE - 2, Sizes.cutInside(block.caption()));
        out.append("</g>\n");
        int y = rect.y() + Sizes.CAPTION;
        List<Box> boxes = block.boxes();
        for (int i = 0; i < boxes.size(); i++) {
            int height = Sizes.height(boxes.get(i));
            Rect inner = new Rect(rect.x() + Sizes.PADDING, y, rect.width() - 2 * Sizes.PADDING, height);
            box(boxes.get(i), style(block), inner);
            if (i > 0) {
                edge(List.of(new Point(inner.centre(), y - Sizes.INNER_GAP), new Point(inner.centre(), y)));
            }
            y += height + Sizes.INNER_GAP;
        }
    }

    private static String style(Block block) {
        return block.kind() == Graph.Kind.OPERATOR ? "box" : block.kind().name().toLowerCase(Locale.ROOT);
    }

    private void box(Box box, String style, Rect rect) {
        out.append("<g><title>").append(Xhtml.escape(box.tooltip())).append("</title>\n");
        rect(style, rect);
        for (int i = 0; i < box.lines().size(); i++) {
            int y = rect.y() + Sizes.LINE * (i + 1);
            text(i == 0 ? "name" : "", rect.x() + Sizes.PADDING, y, box.lines().get(i));
        }
        out.append("</g>\n");
    }

    private void rect(String style, Rect rect) {
        line(
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>",
                style, rect.x(), rect.y(), rect.width(), rect.height());
    }

    private void text(String style, int x, int y, String text) {
        String styled = style.isEmpty() ? "" : " class=\"" + style + "\"";
        line("<text%s x=\"%d\" y=\"%d\">%s</text>", styled, x, y, Xhtml.escape(Sizes.cut(text)));
    }

    private void edge(List<Point> corners) {
        String points = corners.stream().map(p -> p.x() + "," + p.y()).collect(Collectors.joining(" "));
        line("<polyline class=\"edge\" points=\"%s\" marker-end=\"url(#arrow)\"/>", points);
    }

    private void line(String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
