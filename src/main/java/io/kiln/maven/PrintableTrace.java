// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Printable;

/**
 * What Maven shows of a failure with {@code -e}: its stack trace and those of its causes. Messages of causes come from other libraries and
 * quote foreign files as they are, so they are made {@link Printable}.
 */
final class PrintableTrace extends Exception {
    private static final long serialVersionUID = 1L;
    private static final int MOST_CAUSES = 16;

    private PrintableTrace(Throwable failure) {
        super(Printable.lines(failure.toString()));
        setStackTrace(failure.getStackTrace());
    }

    static PrintableTrace of(Throwable failure) {
        return of(failure, MOST_CAUSES);
    }

    private static PrintableTrace of(Throwable failure, int causes) {
        PrintableTrace trace = new PrintableTrace(failure);
        if (causes > 0) {
            if (failure.getCause() != null) {
                trace.initCause(of(failure.getCause(), causes - 1));
            }
            for (Throwable each : failure.getSuppressed()) {
                trace.addSuppressed(of(each, 0));
            }
        }
        return trace;
    }

    /** The failure's class stands in the message, and this one says nothing. */
    @Override
    @SuppressWarnings("OverrideThrowableToString")
    public String toString() {
        return getMessage();
    }
}
