// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.diff;

import io.kiln.report.Table;
import io.kiln.report.diff.BuildDiff.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A {@link BuildDiff} for people: lines for the console, Markdown for pull requests, rows for a page. */
public final class DiffText {
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
            return new Row(what, number(change.before()), number(change.after()), DiffText.difference(change), style);
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
