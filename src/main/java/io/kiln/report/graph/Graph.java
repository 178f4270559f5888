// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import java.util.List;

/**
 * What is drawn.
 *
 * @param title the page's heading
 * @param summary lines below it
 * @param blocks what stands in the picture, each after all that it reads
 * @param edges who reads whose value
 * @param called what its operators call, drawn below it
 */
public record Graph(String title, List<String> summary, List<Block> blocks, List<Edge> edges, List<Graph> called) {
    public Graph {
        called = List.copyOf(called);
        summary = List.copyOf(summary);
        blocks = List.copyOf(blocks);
        edges = List.copyOf(edges);
    }

    /** What a block stands for. */
    public enum Kind {
        INPUT,
        /** Memory that keeps its value from run to run. */
        VARIABLE,
        OPERATOR,
        OUTPUT
    }

    /**
     * Boxes below each other, in a frame if it has a caption or there are several.
     *
     * @param caption the frame's; may be empty
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
     * @param lines the first stands out
     * @param tooltip what the mouse shows; may have several lines
     */
    public record Box(List<String> lines, String tooltip) {
        public Box {
            lines = List.copyOf(lines);
        }
    }

    /**
     * A line from one block to another.
     *
     * @param from index of the block whose value is read
     * @param to index of the reader, above {@code from}
     */
    public record Edge(int from, int to) {}
}
