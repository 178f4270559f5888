// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Log;

/** The engine's log, written to Maven's. */
record MojoLog(org.apache.maven.plugin.logging.Log log) implements Log {
    @Override
    public void info(String line) {
        log.info(line);
    }

    @Override
    public void warn(String line) {
        log.warn(line);
    }

    @Override
    public void debug(String line) {
        log.debug(line);
    }
}
