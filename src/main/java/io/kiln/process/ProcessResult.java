// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.time.Duration;

/**
 * How a process ended.
 *
 * @param exitCode its exit code; 128 plus the signal if it was killed, as the JVM reports it
 * @param timedOut whether its time was over and it was killed
 * @param output standard output as UTF-8, cut after {@link ProcessRunner#CAPTURE_LIMIT} bytes
 * @param errors standard error, likewise
 * @param elapsed wall time
 */
public record ProcessResult(int exitCode, boolean timedOut, String output, String errors, Duration elapsed) {
    /** Whether it ended by itself with exit code 0. */
    public boolean succeeded() {
        return exitCode == 0 && !timedOut;
    }

    /** Standard error followed by standard output, without blank ends: what a tool has to say. */
    public String message() {
        return (errors + output).strip();
    }
}
