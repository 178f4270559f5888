// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import java.util.List;

/** A table under a heading. Its first columns hold names, which may be long, the others short text or numbers. */
final class HtmlTable {
    private final String title;
    private final int names;
    private final int columns;
    private final StringBuilder rows = new StringBuilder();
    private final String headings;

    /**
     * @param names number of columns of names
     * @param columns their headings
     */
    HtmlTable(String title, int names, String... columns) {
        this.title = title;
        this.names = names;
        this.columns = columns.length;
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
    void row(String style, String... cells) {
        List<String> all = List.of(cells);
        row(style, all.subList(0, cells.length - 1), Xhtml.escape(cells[cells.length - 1]));
    }

    /**
     * Adds a row.
     *
     * @param cells the text of all cells but the last
     * @param last the last cell as XHTML
     */
    void row(String style, List<String> cells, String last) {
        if (cells.size() + 1 != columns) {
            throw new IllegalArgumentException("a row of " + columns + " cells, not " + (cells.size() + 1));
        }
        rows.append(style.isEmpty() ? "<tr>" : "<tr class=\"" + style + "\">");
        for (int c = 0; c < cells.size(); c++) {
            rows.append(c < names ? "<td class=\"text name\">" : "<td>")
                    .append(Xhtml.escape(cells.get(c)))
                    .append("</td>");
        }
        rows.append("<td>").append(last).append("</td></tr>\n");
    }

    boolean hasRows() {
        return rows.length() > 0;
    }

    String heading() {
        return "<h2>" + Xhtml.escape(title) + "</h2>\n";
    }

    String body() {
        return "<div class=\"scroll\"><table>\n<thead><tr>" + headings + "</tr></thead>\n<tbody>\n" + rows
                + "</tbody>\n</table></div>\n";
    }

    /** The heading and the table. */
    String text() {
        return heading() + body();
    }
}
