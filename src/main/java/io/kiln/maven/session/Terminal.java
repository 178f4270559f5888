// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Detects a terminal. */
public final class Terminal {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");

    private Terminal() {}

    /**
     * Whether standard output is a terminal that can overwrite a line. Java does not provide this (since version 22
     * there is always a console), Linux does; elsewhere the answer is no.
     */
    public static boolean isWatched() {
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
