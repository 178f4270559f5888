// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.artifact.BufferOverlaps;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.report.page.Xhtml;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;

/** The workspace of a model over time: a column for each operator, addresses upwards, a rectangle for each buffer. */
final class PlanPicture {
    private static final int LEFT = 64;
    private static final int BOTTOM = 34;
    private static final int TOP = 12;
    private static final int HEIGHT = 260;
    private static final int WIDEST = 1100;
    private static final int NARROWEST = 14;
    private static final int BROADEST = 60;

    /** Height of a rectangle from which on it holds text, and the width of a letter. */
    private static final int ROOM = 16;

    private static final double LETTER = 7.4;
    private static final int COLOURS = 6;
    private static final int TICKS = 4;

    private final List<PlannedBuffer> buffers;
    private final List<String> operators;
    private final int steps;
    private final int column;
    private final long top;
    private final StringBuilder out = new StringBuilder();

    /**
     * @param operators names of what runs in each step; there may be more steps than names
     */
    private PlanPicture(List<PlannedBuffer> buffers, List<String> operators) {
        this.buffers = buffers;
        this.operators = operators;
        int last = buffers.stream().mapToInt(PlannedBuffer::lastUse).max().orElse(0);
        this.steps = Math.max(last + 1, operators.size()) + 1;
        this.column = Math.max(NARROWEST, Math.min(BROADEST, (WIDEST - LEFT) / steps));
        this.top = Math.max(
                1, buffers.stream().mapToLong(b -> b.offset() + b.bytes()).max().orElse(1));
    }

    /** The picture; empty without buffers. */
    static String of(List<PlannedBuffer> buffers, List<String> operators) {
        return buffers.isEmpty() ? "" : new PlanPicture(buffers, operators).draw();
    }

    private String draw() {
        int width = LEFT + steps * column + 8;
        int height = TOP + HEIGHT + BOTTOM;
        line(
                "<div class=\"scroll\"><svg class=\"plan\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
                        + " height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Buffers of the workspace over"
                        + " time\">",
                width, height, width, height);
        for (int tick = 0; tick <= TICKS; tick++) {
            long at = top * tick / TICKS;
            line(
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"axis\" x=\"%d\""
                            + " y=\"%.1f\" text-anchor=\"end\">%s</text>",
                    LEFT, width - 8, y(at), y(at), LEFT - 6, y(at) + 4, Shown.count(at));
        }
        int every = Math.max(1, (int) Math.ceil(28.0 / column));
        for (int step = 0; step < operators.size(); step += every) {
            line(
                    "<text class=\"axis\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>",
                    x(step) + column / 2.0, TOP + HEIGHT + 16, step);
        }
        line("<text class=\"axis\" x=\"%d\" y=\"%d\">operator</text>", LEFT, TOP + HEIGHT + BOTTOM - 4);
        List<SortedSet<Integer>> overlaps = BufferOverlaps.of(buffers);
        for (int i = 0; i < buffers.size(); i++) {
            buffer(buffers.get(i), i, sharedAtOnce(buffers.get(i), overlaps.get(i)));
        }
        return out.append("</svg></div>\n").toString();
    }

    private void buffer(PlannedBuffer buffer, int index, List<String> shared) {
        double x = x(buffer.firstUse());
        double width = x(buffer.lastUse() + 1) - x;
        double y = y(buffer.offset() + buffer.bytes());
        double height = y(buffer.offset()) - y;
        String tooltip =
                buffer.name() + "\n" + Shown.count(buffer.bytes()) + " bytes at " + Shown.count(buffer.offset())
                        + "\nfrom " + step(buffer.firstUse()) + " to " + step(buffer.lastUse())
                        + (shared.isEmpty() ? "" : "\nshares bytes with " + String.join(", ", shared));
        line(
                "<g><title>%s</title><rect class=\"buffer p%d%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\""
                        + " height=\"%.1f\"/>",
                Xhtml.escape(tooltip),
                index % COLOURS,
                shared.isEmpty() ? "" : " shared",
                x,
                y,
                width,
                Math.max(1, height));
        String text = Shown.count(buffer.bytes());
        if (height >= ROOM && width >= text.length() * LETTER) {
            line(
                    "<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>",
                    x + width / 2, y + height / 2 + 4, text);
        }
        out.append("</g>\n");
    }

    /** Names of the buffers that hold some of the same bytes at the same time, because an operator writes over what it has read. */
    private List<String> sharedAtOnce(PlannedBuffer buffer, SortedSet<Integer> overlaps) {
        return overlaps.stream()
                .map(buffers::get)
                .filter(other -> other.firstUse() <= buffer.lastUse() && buffer.firstUse() <= other.lastUse())
                .map(PlannedBuffer::name)
                .toList();
    }

    /** The name of a step. Inputs are used before the first operator, outputs behind the last. */
    private String step(int use) {
        if (use < 0) {
            return "the start";
        }
        return use < operators.size() ? "operator " + use + " " + operators.get(use) : "the end";
    }

    private double x(int step) {
        return LEFT + (step + 1.0) * column;
    }

    private double y(long offset) {
        return TOP + HEIGHT - (double) HEIGHT * offset / top;
    }

    private void line(String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
