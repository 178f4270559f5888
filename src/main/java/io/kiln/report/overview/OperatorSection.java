// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.BoardCycles;
import io.kiln.report.BuildReport.Operator;
import io.kiln.report.graph.Graph.Note;
import io.kiln.report.page.HtmlTable;
import io.kiln.report.page.Xhtml;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** The page's table of operators in execution order: what they are in the model, what they cost, and why their schedule was chosen. */
final class OperatorSection {
    private final List<Operator> operators;
    private final IdentityHashMap<Operator, Integer> positions = new IdentityHashMap<>();

    /** Number of columns, from the left, that hold text. */
    private static final int NAMES = 2;

    private static final int LONGEST_NAME = 100;

    /** A column with its cells as XHTML. */
    private record Column(String title, Function<Operator, String> cell) {}

    /** The quantity whose share an operator's bar shows. */
    private enum Measure {
        INSTRUCTIONS("Share of instructions"),
        TIME("Share of time"),
        MACS("Share of MACs");

        private final String title;

        Measure(String title) {
            this.title = title;
        }

        double of(Operator operator) {
            return switch (this) {
                case INSTRUCTIONS -> operator.instructions() == null ? 0 : operator.instructions();
                case TIME -> operator.microseconds() == null ? 0 : operator.microseconds();
                case MACS -> operator.executedMacs();
            };
        }
    }

    OperatorSection(List<Operator> operators) {
        this.operators = List.copyOf(operators);
        operators.forEach(operator -> positions.put(operator, positions.size()));
    }

    String markup() {
        Measure measure = measure();
        double whole = operators.stream().mapToDouble(measure::of).sum();
        List<Column> shown = columns(measure, whole).stream()
                .filter(column -> operators.stream()
                        .anyMatch(operator -> !column.cell().apply(operator).isEmpty()))
                .toList();
        HtmlTable table =
                new HtmlTable("", NAMES, shown.stream().map(Column::title).toArray(String[]::new));
        operators.forEach(operator -> table.markup(
                "", shown.stream().map(column -> column.cell().apply(operator)).toList()));
        return table.body();
    }

    /** The table's columns, without those that are empty for all operators. */
    private List<Column> columns(Measure measure, double whole) {
        double most = operators.stream().mapToDouble(measure::of).max().orElse(0);
        return List.of(
                new Column("Layer", this::name),
                new Column(
                        "Schedule",
                        operator -> Xhtml.escape(operator.schedule())
                                + small(operator.reason())
                                + small(operator.stayed())),
                new Column(measure.title, operator -> share(measure.of(operator), whole, most)),
                new Column("Instructions", operator -> Shown.known(operator.instructions())),
                new Column("Cycles", OperatorSection::cycles),
                new Column("Waits for code", operator -> waits(operator, BoardCycles::fetchStalls)),
                new Column("for constants", operator -> waits(operator, BoardCycles::dataStalls)),
                new Column("Time", OperatorSection::time),
                new Column("MACs", OperatorSection::macs),
                new Column("Constants", operator -> number(operator.constantBytes())),
                new Column("Scratch", operator -> number(operator.workspaceBytes())));
    }

    /** An operator's share as text with a bar; the operator that takes most has the longest. */
    private static String share(double part, double whole, double most) {
        return Shown.bar(Shown.share(part, most)) + String.format(Locale.ROOT, "%.1f %%", Shown.share(part, whole));
    }

    private static String time(Operator operator) {
        return operator.microseconds() == null ? "" : String.format(Locale.ROOT, "%,.1f µs", operator.microseconds());
    }

    /** The notes of a graph on each operator, by the name of its C function. */
    Map<String, Note> notes() {
        Measure measure = measure();
        double whole = operators.stream().mapToDouble(measure::of).sum();
        Map<String, Note> notes = new HashMap<>();
        for (Operator operator : operators) {
            String caption = operator.instructions() != null
                    ? Shown.count(operator.instructions()) + " instructions"
                    : Shown.count(operator.executedMacs()) + " MACs";
            notes.put(operator.name(), new Note(caption, tooltip(operator, measure, whole)));
        }
        return notes;
    }

    private static String tooltip(Operator operator, Measure measure, double whole) {
        List<String> lines = new ArrayList<>(List.of(operator.name()));
        lines.addAll(operator.layers());
        operator.inputs().forEach(tensor -> lines.add("reads " + Shown.whole(tensor)));
        operator.outputs().forEach(tensor -> lines.add("writes " + Shown.whole(tensor)));
        lines.add(Shown.count(operator.macs()) + " MACs, " + Shown.count(operator.constantBytes())
                + " bytes of constants, " + Shown.count(operator.workspaceBytes()) + " bytes of scratch");
        if (operator.instructions() != null) {
            lines.add(Shown.count(operator.instructions()) + " instructions");
        }
        if (operator.estimatedCycles() != null) {
            lines.add("about " + cycles(operator) + " cycles");
        }
        lines.add(measure.title + ": " + Shown.percent(measure.of(operator), whole));
        lines.add(operator.schedule() + ": " + operator.reason());
        return String.join("\n", lines);
    }

    private Measure measure() {
        if (operators.stream().anyMatch(o -> o.instructions() != null)) {
            return Measure.INSTRUCTIONS;
        }
        return operators.stream().anyMatch(o -> o.microseconds() != null) ? Measure.TIME : Measure.MACS;
    }

    /**
     * The names of an operator's layers. Long ones, as of TensorFlow's layers, which name all that was fused into them, are cut; a tooltip has them
     * whole.
     */
    private String name(Operator operator) {
        String layers = operator.layers().isEmpty() ? operator.op() : String.join(", ", operator.layers());
        String outputs = operator.outputs().stream().map(Shown::tensor).collect(Collectors.joining(" "));
        return "<span class=\"soft\">" + positions.get(operator) + "</span> <span title=\"" + Xhtml.escape(layers)
                + "\">" + Xhtml.escape(cut(layers)) + "</span>" + small(outputs) + small(operator.name());
    }

    private static String cut(String text) {
        return text.codePointCount(0, text.length()) <= LONGEST_NAME
                ? text
                : text.substring(0, text.offsetByCodePoints(0, LONGEST_NAME)) + "…";
    }

    private static String small(String text) {
        return text.isEmpty() ? "" : "<small>" + Xhtml.escape(text) + "</small>";
    }

    private static String macs(Operator operator) {
        return operator.executedMacs() == operator.macs()
                ? number(operator.macs())
                : Shown.count(operator.macs()) + small(Shown.count(operator.executedMacs()) + " executed");
    }

    private static String number(long value) {
        return value == 0 ? "" : Shown.count(value);
    }

    private static String cycles(Operator operator) {
        return operator.estimatedCycles() == null
                ? ""
                : Shown.count(
                        operator.boardCycles() == null
                                ? operator.estimatedCycles().expected()
                                : operator.boardCycles().expected());
    }

    private static String waits(Operator operator, ToLongFunction<BoardCycles> part) {
        return operator.boardCycles() == null ? "" : number(part.applyAsLong(operator.boardCycles()));
    }
}
