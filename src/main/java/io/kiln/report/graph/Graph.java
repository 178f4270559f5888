// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.List;
import java.util.Map;

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

    /**
     * What was measured of a block.
     *
     * @param caption follows the block's caption
     * @param tooltip takes the place of the block's tooltip
     */
    public record Note(String caption, String tooltip) {}

    /**
     * A copy with notes on blocks.
     *
     * @param notes by the captions of blocks
     */
    public Graph with(Map<String, Note> notes) {
        return new Graph(
                title,
                summary,
                blocks.stream().map(block -> block.with(notes)).toList(),
                edges,
                called.stream().map(each -> each.with(notes)).toList());
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
     * @param tooltip the frame's mouse-over text; may have several lines
     * @param boxes at least one
     */
    public record Block(Kind kind, String caption, String tooltip, List<Box> boxes) {
        public Block {
            boxes = List.copyOf(boxes);
        }

        /** A block whose tooltip is its caption, which may be cut in the picture. */
        public Block(Kind kind, String caption, List<Box> boxes) {
            this(kind, caption, caption, boxes);
        }

        private Block with(Map<String, Note> notes) {
            Note note = notes.get(caption);
            return note == null ? this : new Block(kind, caption + ": " + note.caption(), note.tooltip(), boxes);
        }

        /** Whether a frame is drawn around the boxes. */
        @JsonIgnore
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
