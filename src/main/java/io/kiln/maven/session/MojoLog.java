// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Log;
import io.kiln.base.Printable;

/**
 * The engine's log, written to Maven's. Every line passes here, where control characters in foreign text are escaped.
 */
public record MojoLog(org.apache.maven.plugin.logging.Log log) implements Log {
    @Override
    public void info(String line) {
        log.info(Printable.lines(line));
    }

    /** {@code mvn -q} suppresses the log, and standard output is left. */
    @Override
    public void answer(String line) {
        if (log.isInfoEnabled()) {
            info(line);
        } else {
            System.out.println(Printable.lines(line));
        }
    }

    @Override
    public void warn(String line) {
        log.warn(Printable.lines(line));
    }

    @Override
    public void debug(String line) {
        log.debug(Printable.lines(line));
    }
}
