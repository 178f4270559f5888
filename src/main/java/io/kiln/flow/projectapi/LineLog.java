// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.base.Log;
import java.io.PrintStream;

/**
 * A log of lines on a stream.
 *
 * @param out where they go
 * @param verbose whether lines for information are among them
 * @param debug whether lines for debugging are, too
 */
record LineLog(PrintStream out, boolean verbose, boolean debug) implements Log {
    /** The same log with more lines, if that is wanted. */
    LineLog verbose(boolean isWanted) {
        return new LineLog(out, verbose || isWanted, debug);
    }

    @Override
    public void info(String line) {
        if (verbose) {
            out.println("kiln: " + line);
        }
    }

    @Override
    public void warn(String line) {
        out.println("kiln: warning: " + line);
    }

    @Override
    public void debug(String line) {
        if (debug) {
            out.println("kiln: debug: " + line);
        }
    }
}
