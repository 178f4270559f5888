// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether somebody watches. */
final class Terminal {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");

    private Terminal() {}

    /**
     * Whether standard output goes to a terminal that can write a line over. Java does not tell (a console is there from version 22 on in
     * any case), Linux does; elsewhere the answer is no.
     */
    static boolean isWatched() {
        if (!Files.isSymbolicLink(STANDARD_OUTPUT) || "dumb".equals(System.getenv("TERM"))) {
            return false;
        }
        try {
            String target = Files.readSymbolicLink(STANDARD_OUTPUT).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }
}
