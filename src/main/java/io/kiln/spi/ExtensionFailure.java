// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

/**
 * Thrown by a service for what the user can mend. The build fails with its parts as a message that also names the service. Any other exception
 * is told as a bug of the service.
 */
public class ExtensionFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String where;
    private final String expected;
    private final String next;

    /**
     * A failure with the four parts of Kiln's messages; a part that says nothing is empty.
     *
     * @param what what happened
     * @param where the place, such as a file with an offset
     * @param expected what was expected instead
     * @param next what to do next
     */
    public ExtensionFailure(String what, String where, String expected, String next) {
        super(what);
        this.where = where;
        this.expected = expected;
        this.next = next;
    }

    /** The place; empty if there is none. */
    public String where() {
        return where;
    }

    /** What was expected instead; empty if it is obvious. */
    public String expected() {
        return expected;
    }

    /** What to do next; empty without advice. */
    public String next() {
        return next;
    }
}
