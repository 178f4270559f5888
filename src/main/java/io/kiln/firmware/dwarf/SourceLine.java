// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

/**
 * A position in a source.
 *
 * @param file as the compiler recorded it, with its folder if the table has one
 * @param line from 1
 */
public record SourceLine(String file, long line) {
    /** {@code file:line}, as editors open it. */
    public String text() {
        return file + ":" + line;
    }
}
