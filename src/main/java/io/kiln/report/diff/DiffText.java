// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.diff;

import io.kiln.report.Table;
import io.kiln.report.diff.BuildDiff.Change;
import io.kiln.report.page.Xhtml;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A {@link BuildDiff} for people: lines for the console, Markdown for pull requests, a page. */
public final class DiffText {
    private static final String UNKNOWN = "-";
    private static final double PERCENT = 100;
    private static final String STYLE = """
            body { font: 15px/1.4 sans-serif; margin: 1em auto; max-width: 60em; padding: 0 1em; color: #222; background: #fff; }
            table { border-collapse: collapse; margin: 1em 0; width: 100%; }
            td, th { padding: .2em .6em; text-align: right; border-bottom: 1px solid #ccc; white-space: nowrap; }
            td:first-child, th:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; }
            .more { color: #b00020; }
            .less { color: #00701a; }
            @media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818; } .more { color: #ff8a80; } .less { color: #80e27e; } }
            """;

    private DiffText() {}

    /** A row of cells: what, before, after, difference. */
    private record Row(String what, Change change) {
        List<String> cells() {
            return List.of(what, number(change.before()), number(change.after()), difference(change));
        }

        String style() {
            if (change.before() == null || change.after() == null || change.isEqual()) {
                return "";
            }
            return change.after() > change.before() ? "more" : "less";
        }
    }

    private static String number(Long value) {
        return value == null ? UNKNOWN : String.format(Locale.ROOT, "%,d", value);
    }

    /** The difference, with its share; one of unknown figures is not told. */
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

    private static List<Row> rows(BuildDiff diff) {
        List<Row> rows = new ArrayList<>();
        diff.totals().forEach(change -> rows.add(new Row(change.what(), change)));
        diff.operators()
                .forEach(operator -> operator.figures()
                        .forEach(change -> rows.add(new Row(operator.name() + " " + change.what(), change))));
        diff.answers().forEach(change -> rows.add(new Row("mismatches of " + change.what(), change)));
        return rows;
    }

    private static List<String> tensors(BuildDiff diff) {
        return diff.tensors().stream()
                .map(change -> (change.isNew() ? "new " : "gone ") + change.tensor())
                .toList();
    }

    /** Lines of a table, then of tensors. */
    public static List<String> lines(BuildDiff diff) {
        Table table = new Table("", "before", "after", "difference");
        rows(diff).forEach(row -> table.row(row.cells().toArray()));
        List<String> lines = new ArrayList<>(table.lines());
        lines.addAll(tensors(diff));
        return lines;
    }

    /** As Markdown; cells cannot leave theirs. */
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

    /** As a page that needs nothing else. */
    public static String html(BuildDiff diff) {
        StringBuilder out = new StringBuilder(Xhtml.head("What changed", STYLE))
                .append("<h1>What changed</h1>\n<p>Compared with ")
                .append(Xhtml.escape(diff.before()))
                .append("</p>\n<table>\n<tr><th></th><th>before</th><th>after</th><th>difference</th></tr>\n");
        for (Row row : rows(diff)) {
            out.append(row.style().isEmpty() ? "<tr>" : "<tr class=\"" + row.style() + "\">");
            row.cells()
                    .forEach(cell ->
                            out.append("<td>").append(Xhtml.escape(cell)).append("</td>"));
            out.append("</tr>\n");
        }
        out.append("</table>\n");
        tensors(diff)
                .forEach(
                        tensor -> out.append("<p>").append(Xhtml.escape(tensor)).append("</p>\n"));
        return out.append(Xhtml.foot()).toString();
    }
}
