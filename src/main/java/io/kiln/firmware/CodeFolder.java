// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.nio.file.Path;

/**
 * A folder of the user's own code, which is copied into the C project.
 *
 * @param path the folder that the user edits
 * @param copy its place in the C project, with {@code /} between names
 * @param origin what debug information and messages call it; the same on every computer
 * @param role what it is for
 */
public record CodeFolder(Path path, String copy, String origin, Role role) {
    /** The role of a folder. */
    public enum Role {
        /** The project's {@code src/main/c}: compiled, searched for headers, and need not exist. */
        MAIN,
        /** Compiled, and searched for headers. */
        SOURCES,
        /** Searched for headers; nothing in it is compiled. */
        HEADERS,
        /** Compiled; its headers are its own. */
        PRIVATE,
        /** Unit tests: compiled with a runner, which replaces the project's {@code main}. */
        TESTS;

        boolean isCompiled() {
            return this != HEADERS;
        }

        boolean isSearched() {
            return this != PRIVATE;
        }
    }

    public CodeFolder {
        path = path.toAbsolutePath().normalize();
    }

    /** Whether a file of the C project is from this folder. */
    boolean holds(String file) {
        return file.startsWith(copy + "/");
    }

    /** The name in debug information and messages of a file of the C project that is from this folder. */
    String original(String file) {
        return origin + file.substring(copy.length());
    }

    /** The file that the user edits. */
    Path edited(String file) {
        return path.resolve(file.substring(copy.length() + 1)).normalize();
    }
}
