// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.toolchain.compiler.SourceKind;

/**
 * A source file to compile.
 *
 * @param path relative to the C project, with {@code /} between names
 * @param kind whose file it is
 */
public record SourceUnit(String path, SourceKind kind) {
    /** Path of its object, relative to the folder of objects. */
    public String object() {
        return path + ".o";
    }

    /** Whether it belongs to the board, and so differs for a stand-in. */
    boolean ofBoard() {
        return path.startsWith(ProjectFiles.BOARD + "/");
    }

    boolean isAssembler() {
        return path.endsWith(".s") || path.endsWith(".S");
    }
}
