// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

/**
 * A place in untrusted text that is outside the allowed language.
 *
 * @param file the source, as named by line markers
 * @param line from 1
 * @param what what it is, in one clause
 */
public record Refusal(String file, int line, String what) {
    /** File and line, for messages. */
    public String where() {
        return file + ":" + line;
    }
}
