// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

/**
 * Something that is not in the language.
 *
 * @param file the source, as line markers name it
 * @param line from 1
 * @param what what it is, one clause
 */
public record Refusal(String file, int line, String what) {
    /** File and line, for messages. */
    public String where() {
        return file + ":" + line;
    }
}
