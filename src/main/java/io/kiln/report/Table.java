// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.util.ArrayList;
import java.util.List;

/** A table of text in columns: the first is left-aligned, numbers are right-aligned. */
public final class Table {
    private static final String GAP = "  ";

    private final List<List<String>> rows = new ArrayList<>();

    /** A table with these headings. */
    public Table(String... headings) {
        rows.add(List.of(headings));
    }

    /** Adds a row; its number of cells must be that of the headings. */
    public Table row(Object... cells) {
        if (cells.length != rows.get(0).size()) {
            throw new IllegalArgumentException("a row of " + rows.get(0).size() + " cells, not " + cells.length);
        }
        List<String> row = new ArrayList<>();
        for (Object cell : cells) {
            row.add(String.valueOf(cell));
        }
        rows.add(row);
        return this;
    }

    /** The table's lines, headings first, without trailing spaces. */
    public List<String> lines() {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int c = 0; c < columns; c++) {
                widths[c] = Math.max(widths[c], row.get(c).length());
            }
        }
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int c = 0; c < columns; c++) {
                String cell = row.get(c);
                String pad = " ".repeat(widths[c] - cell.length());
                line.append(c == 0 ? "" : GAP).append(isNumeric(c) ? pad + cell : cell + pad);
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }

    private boolean isNumeric(int column) {
        return column > 0
                && rows.size() > 1
                && rows.stream().skip(1).allMatch(row -> row.get(column).matches("[0-9,.%-]*"));
    }
}
