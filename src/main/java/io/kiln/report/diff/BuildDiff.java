// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.diff;

import io.kiln.report.Json.OrNull;
import io.kiln.report.Table;
import io.kiln.report.diff.BuildDiff.Change;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Content of {@code diff.json}: what changed from one build to another. What is equal in both is left out, but totals are always there.
 *
 * @param before where the earlier build's figures are from
 * @param totals of the image
 * @param operators of the models; one that is in one of the builds only has no figure of the other. What only one build measured, such as
 *     instructions before a profile, is left out
 * @param tensors inputs and outputs of the models that only one of the builds has
 * @param answers cases that matched in one build and not in the other
 */
public record BuildDiff(
        String before,
        List<Change> totals,
        List<OperatorChange> operators,
        List<TensorChange> tensors,
        List<Change> answers) {
    public BuildDiff {
        totals = List.copyOf(totals);
        operators = List.copyOf(operators);
        tensors = List.copyOf(tensors);
        answers = List.copyOf(answers);
    }

    /**
     * A figure in both builds.
     *
     * @param what its name
     * @param before in the earlier build; null if unknown
     * @param after in this build; null if unknown
     */
    public record Change(
            String what, @OrNull Long before, @OrNull Long after) {

        /** Whether both builds know it, and it differs. */
        boolean isKnownToDiffer() {
            return before != null && after != null && !isEqual();
        }

        boolean isEqual() {
            return before == null ? after == null : before.equals(after);
        }
    }

    /**
     * An operator.
     *
     * @param name its C function
     * @param figures that differ
     */
    public record OperatorChange(String name, List<Change> figures) {
        public OperatorChange {
            figures = List.copyOf(figures);
        }
    }

    /**
     * An input or output that one build has.
     *
     * @param tensor the side, its name, type and shape
     * @param isNew whether this build has it, rather than the earlier one
     */
    public record TensorChange(String tensor, boolean isNew) {}

    public static BuildDiff of(String from, Figures before, Figures after) {
        List<OperatorChange> operators = new ArrayList<>();
        for (String name : union(before.operators().keySet(), after.operators().keySet())) {
            List<Change> figures = changes(
                    before.operators().getOrDefault(name, Map.of()),
                    after.operators().getOrDefault(name, Map.of()));
            boolean isInBoth =
                    before.operators().containsKey(name) && after.operators().containsKey(name);
            figures.removeIf(change -> isInBoth ? !change.isKnownToDiffer() : change.isEqual());
            if (!figures.isEmpty()) {
                operators.add(new OperatorChange(name, figures));
            }
        }
        List<TensorChange> tensors = new ArrayList<>();
        for (String tensor : union(before.tensors(), after.tensors())) {
            boolean isNew = !before.tensors().contains(tensor);
            if (isNew || !after.tensors().contains(tensor)) {
                tensors.add(new TensorChange(tensor, isNew));
            }
        }
        List<Change> answers = changes(before.cases(), after.cases());
        answers.removeIf(change -> !change.isKnownToDiffer());
        return new BuildDiff(from, changes(before.totals(), after.totals()), operators, tensors, answers);
    }

    private static List<Change> changes(Map<String, Long> before, Map<String, Long> after) {
        List<Change> changes = new ArrayList<>();
        for (String name : union(before.keySet(), after.keySet())) {
            changes.add(new Change(name, before.get(name), after.get(name)));
        }
        return changes;
    }

    private static Set<String> union(Iterable<String> first, Iterable<String> second) {
        Set<String> union = new LinkedHashSet<>();
        first.forEach(union::add);
        second.forEach(union::add);
        return union;
    }

    /** The total of a name, such as {@code flash}; its figures are unknown if no build has it. */
    public Change total(String what) {
        return totals.stream()
                .filter(change -> change.what().equals(what))
                .findFirst()
                .orElse(new Change(what, null, null));
    }

    /** A {@link BuildDiff} for people: lines for the console, Markdown for pull requests, rows for a page. */
    public static final class DiffText {
        private static final String UNKNOWN = "-";
        private static final double PERCENT = 100;

        private DiffText() {}

        /**
         * A row of the table.
         *
         * @param style its class on a page: {@code more}, {@code less} or empty
         */
        public record Row(String what, String before, String after, String difference, String style) {
            static Row of(String what, Change change) {
                String style = !change.isKnownToDiffer() ? "" : change.after() > change.before() ? "more" : "less";
                return new Row(
                        what, number(change.before()), number(change.after()), DiffText.difference(change), style);
            }

            List<String> cells() {
                return List.of(what, before, after, difference);
            }
        }

        private static String number(Long value) {
            return value == null ? UNKNOWN : String.format(Locale.ROOT, "%,d", value);
        }

        /** The difference with its share in percent; a placeholder if a figure is unknown. */
        public static String difference(Change change) {
            if (change.before() == null || change.after() == null) {
                return UNKNOWN;
            }
            long difference = change.after() - change.before();
            if (difference == 0) {
                return "0";
            }
            String share = change.before() == 0
                    ? ""
                    : String.format(Locale.ROOT, " (%+.1f %%)", PERCENT * difference / change.before());
            return String.format(Locale.ROOT, "%+,d", difference) + share;
        }

        /** What changed, one figure in a row. */
        public static List<Row> rows(BuildDiff diff) {
            List<Row> rows = new ArrayList<>();
            diff.totals().forEach(change -> rows.add(Row.of(change.what(), change)));
            diff.operators()
                    .forEach(operator -> operator.figures()
                            .forEach(change -> rows.add(Row.of(operator.name() + " " + change.what(), change))));
            diff.answers().forEach(change -> rows.add(Row.of("mismatches of " + change.what(), change)));
            return rows;
        }

        /** A line for each tensor that is new or gone. */
        public static List<String> tensors(BuildDiff diff) {
            return diff.tensors().stream()
                    .map(change -> (change.isNew() ? "new " : "gone ") + change.tensor())
                    .toList();
        }

        /** The table of figures as lines, then a line for each tensor that is new or gone. */
        public static List<String> lines(BuildDiff diff) {
            Table table = new Table("", "before", "after", "difference");
            rows(diff).forEach(row -> table.row(row.cells().toArray()));
            List<String> lines = new ArrayList<>(table.lines());
            lines.addAll(tensors(diff));
            return lines;
        }

        /** The table as Markdown, in which text of the reports cannot end a cell. */
        public static String markdown(BuildDiff diff) {
            StringBuilder out = new StringBuilder("Compared with ")
                    .append(cell(diff.before()))
                    .append("\n\n| | before | after | difference |\n|---|---:|---:|---:|\n");
            for (Row row : rows(diff)) {
                out.append(row.cells().stream().map(DiffText::cell).collect(Collectors.joining(" | ", "| ", " |\n")));
            }
            tensors(diff).forEach(tensor -> out.append("\n* ").append(cell(tensor)));
            return out.append(diff.tensors().isEmpty() ? "" : "\n").toString();
        }

        private static String cell(String text) {
            return text.replaceAll("[\\r\\n]", " ").replaceAll("([\\\\`*_{}\\[\\]<>|])", "\\\\$1");
        }
    }
}
