// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.graph;

import io.kiln.report.graph.Graph.Block;
import io.kiln.report.graph.Graph.Box;

/** Sizes in pixels, computed from the width of a fixed-width font. */
final class Sizes {
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
