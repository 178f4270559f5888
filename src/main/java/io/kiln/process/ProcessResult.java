// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.time.Duration;

/**
 * The result of a process.
 *
 * @param exitCode its exit code; 128 plus the signal if it was killed, as the JVM reports it
 * @param timedOut whether it was killed at its time limit
 * @param output standard output as UTF-8, cut after {@link ProcessRunner#CAPTURE_LIMIT} bytes
 * @param errors standard error, likewise
 * @param elapsed wall time
 */
public record ProcessResult(int exitCode, boolean timedOut, String output, String errors, Duration elapsed) {
    /** Whether it ended by itself with exit code 0. */
    public boolean succeeded() {
        return exitCode == 0 && !timedOut;
    }

    /** Standard error followed by standard output, trimmed: the tool's message. */
    public String message() {
        return (errors + output).strip();
    }
}
