// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Printable;

/**
 * The stack traces that Maven shows with {@code -e}. Messages of causes come from other libraries and quote foreign
 * files, so they are made {@link Printable}.
 */
public final class PrintableTrace extends Exception {
    private static final long serialVersionUID = 1L;
    private static final int MOST_CAUSES = 16;

    private PrintableTrace(Throwable failure) {
        super(Printable.lines(failure.toString()));
        setStackTrace(failure.getStackTrace());
    }

    public static PrintableTrace of(Throwable failure) {
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

    /** The message already has the failure's class, so this class's name is omitted. */
    @Override
    @SuppressWarnings("OverrideThrowableToString")
    public String toString() {
        return getMessage();
    }
}
