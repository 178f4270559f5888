// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.BuildReport.Operator;
import io.kiln.report.CycleReport.BoardCycles;
import io.kiln.report.graph.Graph.Note;
import io.kiln.report.page.Shown;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** What operators cost, compared with each other: their shares of instructions, of time or of MACs, whichever is known. */
public final class OperatorCosts {
    private final List<Operator> operators;
    private final Measure measure;
    private final double whole;
    private final double most;
    private final IdentityHashMap<Operator, Integer> positions = new IdentityHashMap<>();

    private static final double PERCENT = 100;

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

    /** The costs of a model's operators, or of all models'. */
    public OperatorCosts(List<Operator> operators) {
        this.operators = List.copyOf(operators);
        this.measure = measure(operators);
        this.whole = operators.stream().mapToDouble(measure::of).sum();
        this.most = operators.stream().mapToDouble(measure::of).max().orElse(0);
        operators.forEach(operator -> positions.put(operator, positions.size()));
    }

    /** Heading of the shares. */
    public String title() {
        return measure.title;
    }

    /** An operator's share as text. */
    public String share(Operator operator) {
        return Shown.tenths(whole > 0 ? PERCENT * measure.of(operator) / whole : 0) + " %";
    }

    /** The length of its bar in percent; the operator that takes most has the longest. */
    public double bar(Operator operator) {
        return Shown.share(measure.of(operator), most);
    }

    /** Its place in execution order. */
    public int position(Operator operator) {
        return positions.get(operator);
    }

    /** The names of its layers. */
    public String layers(Operator operator) {
        return operator.layers().isEmpty() ? operator.op() : String.join(", ", operator.layers());
    }

    /** Its cycles, those of the board if its memories are known; empty if they were not estimated. */
    public static String cycles(Operator operator) {
        if (operator.estimatedCycles() == null) {
            return "";
        }
        return Shown.count(
                operator.boardCycles() == null
                        ? operator.estimatedCycles().expected()
                        : operator.boardCycles().expected());
    }

    /** A part of its board cycles; empty if they were not estimated. */
    public static String waits(Operator operator, ToLongFunction<BoardCycles> part) {
        return operator.boardCycles() == null ? "" : Shown.some(part.applyAsLong(operator.boardCycles()));
    }

    /** The notes of a graph on each operator, by the name of its C function. */
    public Map<String, Note> notes() {
        Map<String, Note> notes = new HashMap<>();
        for (Operator operator : operators) {
            String caption = operator.instructions() != null
                    ? Shown.count(operator.instructions()) + " instructions"
                    : Shown.count(operator.executedMacs()) + " MACs";
            notes.put(operator.name(), new Note(caption, tooltip(operator)));
        }
        return notes;
    }

    private String tooltip(Operator operator) {
        List<String> lines = new ArrayList<>(List.of(operator.name()));
        lines.addAll(operator.layers());
        operator.inputs().forEach(tensor -> lines.add("reads " + Shown.named(tensor)));
        operator.outputs().forEach(tensor -> lines.add("writes " + Shown.named(tensor)));
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

    private static Measure measure(List<Operator> operators) {
        if (operators.stream().anyMatch(o -> o.instructions() != null)) {
            return Measure.INSTRUCTIONS;
        }
        return operators.stream().anyMatch(o -> o.microseconds() != null) ? Measure.TIME : Measure.MACS;
    }
}
