// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/**
 * One thing that is wrong, in the four parts that every message of Kiln has.
 *
 * @param what what happened
 * @param where the place: file, operator index and tensor, or line of a descriptor; empty if there is none
 * @param expected what was expected instead; empty if it goes without saying
 * @param next what to do next; empty if there is nothing to advise
 */
public record Problem(String what, String where, String expected, String next) {

    /** A problem with only a statement and a place. */
    public static Problem of(String what, String where) {
        return new Problem(what, where, "", "");
    }

    /** The parts in one paragraph, as the user reads them; text of foreign files in it is made {@link Printable}. */
    public String text() {
        StringBuilder text = new StringBuilder();
        if (!where.isEmpty()) {
            text.append(Printable.line(where)).append(": ");
        }
        text.append(Printable.lines(what));
        if (!expected.isEmpty()) {
            text.append("; expected ").append(Printable.lines(expected));
        }
        text.append('.');
        if (!next.isEmpty()) {
            text.append(' ').append(Printable.lines(next));
            if (!next.endsWith(".")) {
                text.append('.');
            }
        }
        return text.toString();
    }
}
