// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import java.util.List;

/**
 * A graph to draw.
 *
 * @param title the page's heading
 * @param summary lines below it
 * @param blocks its blocks, each after all blocks that it reads
 * @param edges which block reads which
 * @param called graphs of the functions that its operators call, drawn below it
 */
public record Graph(String title, List<String> summary, List<Block> blocks, List<Edge> edges, List<Graph> called) {
    public Graph {
        called = List.copyOf(called);
        summary = List.copyOf(summary);
        blocks = List.copyOf(blocks);
        edges = List.copyOf(edges);
    }

    /** The kind of a block. */
    public enum Kind {
        INPUT,
        /** Memory that keeps its value between runs. */
        VARIABLE,
        OPERATOR,
        OUTPUT
    }

    /**
     * Boxes in a column, with a frame if it has a caption or several boxes.
     *
     * @param caption the frame's caption; may be empty
     * @param boxes at least one
     */
    public record Block(Kind kind, String caption, List<Box> boxes) {
        public Block {
            boxes = List.copyOf(boxes);
        }

        /** Whether a frame is drawn around the boxes. */
        public boolean isFramed() {
            return boxes.size() > 1 || !caption.isEmpty();
        }
    }

    /**
     * A rectangle with text.
     *
     * @param lines the text; the first line is highlighted
     * @param tooltip the mouse-over text; may have several lines
     */
    public record Box(List<String> lines, String tooltip) {
        public Box {
            lines = List.copyOf(lines);
        }
    }

    /**
     * A line from one block to another.
     *
     * @param from index of the block that is read
     * @param to index of the reader, above {@code from}
     */
    public record Edge(int from, int to) {}
}
