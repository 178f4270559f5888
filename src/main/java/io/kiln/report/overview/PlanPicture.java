// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.artifact.ModelMetadata.BufferOverlaps;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ModelPart;
import io.kiln.report.BuildReport.Operator;
import io.kiln.report.page.Shown;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.stream.IntStream;

/** The workspace of a model over time: a column for each operator, addresses upwards, a rectangle for each buffer. */
public final class PlanPicture {
    /** Where columns begin, in pixels. */
    public static final int LEFT = 64;

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
    private final int columns;
    private final int column;
    private final long top;

    /**
     * @param operators names of what runs in each step; there may be more steps than names
     */
    private PlanPicture(List<PlannedBuffer> buffers, List<String> operators) {
        this.buffers = buffers;
        this.operators = operators;
        int last = buffers.stream().mapToInt(PlannedBuffer::lastUse).max().orElse(0);
        this.columns = Math.max(last + 1, operators.size()) + 1;
        this.column = Math.max(NARROWEST, Math.min(BROADEST, (WIDEST - LEFT) / columns));
        this.top = Math.max(
                1, buffers.stream().mapToLong(b -> b.offset() + b.bytes()).max().orElse(1));
    }

    /** A line of the grid. */
    public record Tick(long bytes, double y) {}

    /**
     * A number below the picture.
     *
     * @param x middle of the operator's column
     */
    public record Step(int operator, double x) {}

    /**
     * A buffer.
     *
     * @param colour number of its colour
     * @param isShared whether others hold some of its bytes at the same time
     * @param size its bytes as text
     */
    public record Rectangle(
            String tooltip,
            int colour,
            boolean isShared,
            double x,
            double y,
            double width,
            double height,
            String size) {
        /** Whether it has room for its size. */
        public boolean isRoomy() {
            return height >= ROOM && width >= size.length() * LETTER;
        }
    }

    /** The picture of a model's buffers. */
    public static PlanPicture of(ModelSection model) {
        return new PlanPicture(
                model.buffers(), model.operators().stream().map(Operator::name).toList());
    }

    public int width() {
        return LEFT + columns * column + 8;
    }

    public int height() {
        return TOP + HEIGHT + BOTTOM;
    }

    /** Lines of the grid. */
    public List<Tick> ticks() {
        return IntStream.rangeClosed(0, TICKS)
                .mapToObj(tick -> top * tick / TICKS)
                .map(bytes -> new Tick(bytes, y(bytes)))
                .toList();
    }

    /** Operators that there is room to number. */
    public List<Step> steps() {
        int every = Math.max(1, (int) Math.ceil(28.0 / column));
        return IntStream.range(0, operators.size())
                .filter(step -> step % every == 0)
                .mapToObj(step -> new Step(step, x(step) + column / 2.0))
                .toList();
    }

    public List<Rectangle> buffers() {
        List<SortedSet<Integer>> overlaps = BufferOverlaps.of(buffers);
        return IntStream.range(0, buffers.size())
                .mapToObj(i -> rectangle(buffers.get(i), i, sharedAtOnce(buffers.get(i), overlaps.get(i))))
                .toList();
    }

    private Rectangle rectangle(PlannedBuffer buffer, int index, List<String> shared) {
        double x = x(buffer.firstUse());
        double y = y(buffer.offset() + buffer.bytes());
        String tooltip =
                buffer.name() + "\n" + Shown.count(buffer.bytes()) + " bytes at " + Shown.count(buffer.offset())
                        + "\nfrom " + step(buffer.firstUse()) + " to " + step(buffer.lastUse())
                        + (shared.isEmpty() ? "" : "\nshares bytes with " + String.join(", ", shared));
        return new Rectangle(
                tooltip,
                index % COLOURS,
                !shared.isEmpty(),
                x,
                y,
                x(buffer.lastUse() + 1) - x,
                y(buffer.offset()) - y,
                Shown.count(buffer.bytes()));
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

    /**
     * What a report holds of one of the models of an image.
     *
     * @param name the model's
     * @param operators in execution order
     * @param buffers of its workspace; none if they are not known one by one
     */
    public record ModelSection(String name, List<Operator> operators, List<PlannedBuffer> buffers) {
        public ModelSection {
            operators = List.copyOf(operators);
            buffers = List.copyOf(buffers);
        }

        /** The models of an image. */
        public static List<ModelSection> of(BuildReport built) {
            List<ModelSection> models = new ArrayList<>();
            int operator = 0;
            int buffer = 0;
            for (ModelPart model : built.models()) {
                int operators = operator + model.operators();
                int buffers = buffer + model.buffers();
                models.add(new ModelSection(
                        model.name(),
                        built.operators().subList(operator, operators),
                        built.plan().buffers().subList(buffer, buffers)));
                operator = operators;
                buffer = buffers;
            }
            return models;
        }
    }
}
