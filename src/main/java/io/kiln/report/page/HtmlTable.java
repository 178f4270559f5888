// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import java.util.List;
import java.util.stream.Stream;

/**
 * A table under a heading. Its first columns hold names, which may be long, the others short text or numbers. On a narrow screen the rows of a
 * table of many columns become cards.
 */
public final class HtmlTable {
    /** Number of columns that a phone shows beside each other. */
    private static final int NARROW = 4;

    private final String title;
    private final int names;
    private final List<String> columns;
    private final StringBuilder rows = new StringBuilder();
    private final String headings;

    /**
     * @param names number of columns of names
     * @param columns their headings
     */
    public HtmlTable(String title, int names, String... columns) {
        this.title = title;
        this.names = names;
        this.columns = List.of(columns);
        StringBuilder cells = new StringBuilder();
        for (int c = 0; c < columns.length; c++) {
            cells.append(c < names ? "<th class=\"text\">" : "<th>")
                    .append(Xhtml.escape(columns[c]))
                    .append("</th>");
        }
        this.headings = cells.toString();
    }

    /**
     * Adds a row.
     *
     * @param style its class; empty for none
     */
    public void row(String style, String... cells) {
        markup(style, Stream.of(cells).map(Xhtml::escape).toList());
    }

    /**
     * Adds a row.
     *
     * @param cells the text of all cells but the last
     * @param last the last cell as XHTML
     */
    void row(String style, List<String> cells, String last) {
        markup(
                style,
                Stream.concat(cells.stream().map(Xhtml::escape), Stream.of(last))
                        .toList());
    }

    /**
     * Adds a row.
     *
     * @param style its class; empty for none
     * @param cells as XHTML
     */
    public void markup(String style, List<String> cells) {
        if (cells.size() != columns.size()) {
            throw new IllegalArgumentException("a row of " + columns.size() + " cells, not " + cells.size());
        }
        rows.append(style.isEmpty() ? "<tr>" : "<tr class=\"" + style + "\">");
        for (int c = 0; c < cells.size(); c++) {
            rows.append(c < names ? "<td class=\"text name\"" : "<td")
                    .append(" data-label=\"")
                    .append(Xhtml.escape(columns.get(c)))
                    .append("\">")
                    .append(cells.get(c))
                    .append("</td>");
        }
        rows.append("</tr>\n");
    }

    /** Whether a row was added. */
    public boolean hasRows() {
        return rows.length() > 0;
    }

    /** The heading without the table. */
    public String heading() {
        return "<h2>" + Xhtml.escape(title) + "</h2>\n";
    }

    /** The table without the heading. */
    public String body() {
        String table = columns.size() > NARROW ? "<table class=\"wide\">" : "<table>";
        return "<div class=\"scroll\">" + table + "\n<thead><tr>" + headings + "</tr></thead>\n<tbody>\n" + rows
                + "</tbody>\n</table></div>\n";
    }

    /** The heading and the table. */
    public String text() {
        return heading() + body();
    }
}
