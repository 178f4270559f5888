// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import gg.jte.Content;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * A table for templates: columns hold names, which may be long, or short text and numbers. What a row does not have is an empty cell.
 *
 * @param <T> what a row shows
 */
public final class PageTable<T> {
    /** Number of columns that a phone shows beside each other. */
    private static final int NARROW = 4;

    private final List<T> all;
    private final List<Column<T>> columns = new ArrayList<>();
    private Function<T, String> style = any -> "";

    private PageTable(Collection<? extends T> all) {
        this.all = List.copyOf(all);
    }

    /**
     * A column.
     *
     * @param isName whether it holds names
     * @param cell what a row has in it; empty if nothing
     */
    public record Column<T>(String title, boolean isName, Function<T, String> text, Function<T, Content> cell) {}

    /** A cell of a row. */
    public record Cell(Column<?> column, Content content) {}

    /**
     * A row.
     *
     * @param style its class; empty for none
     */
    public record Row(String style, List<Cell> cells) {}

    /** A table without columns. */
    public static <T> PageTable<T> of(Collection<? extends T> rows) {
        return new PageTable<>(rows);
    }

    /** Adds a column of names. */
    public PageTable<T> name(String title, Function<T, ?> cell) {
        return add(title, true, cell);
    }

    /** Adds a column of text or numbers. */
    public PageTable<T> column(String title, Function<T, ?> cell) {
        return add(title, false, cell);
    }

    private PageTable<T> add(String title, boolean isName, Function<T, ?> cell) {
        Function<T, String> text = row -> Objects.toString(cell.apply(row), "");
        columns.add(new Column<>(title, isName, text, row -> out -> out.writeUserContent(text.apply(row))));
        return this;
    }

    /** Puts elements of a template around the text of the last column. */
    public PageTable<T> as(Function<T, Content> cell) {
        Column<T> last = columns.remove(columns.size() - 1);
        columns.add(new Column<>(last.title, last.isName, last.text, cell));
        return this;
    }

    /** Gives rows a class; empty for none. */
    public PageTable<T> styled(Function<T, String> other) {
        style = other;
        return this;
    }

    /** Drops columns in which no row has text. */
    public PageTable<T> withoutEmptyColumns() {
        columns.removeIf(
                column -> all.stream().allMatch(row -> column.text.apply(row).isEmpty()));
        return this;
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    /** Whether it has more columns than a phone shows. */
    public boolean isWide() {
        return columns.size() > NARROW;
    }

    public List<Column<T>> columns() {
        return columns;
    }

    public List<Row> rows() {
        return all.stream()
                .map(row -> new Row(
                        style.apply(row),
                        columns.stream()
                                .map(column -> new Cell(column, column.cell.apply(row)))
                                .toList()))
                .toList();
    }
}
