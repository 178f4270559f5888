// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.FileFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A temporary folder that a run of OpenOCD works in: it searches its working folder for scripts, and must not find any there. */
final class WorkFolder {
    private WorkFolder() {}

    @FunctionalInterface
    interface Work<T> {
        T in(Path folder) throws IOException;
    }

    /** Works in an empty folder, which is deleted afterwards. */
    static <T> T use(Work<T> work) {
        try {
            Path folder = Files.createTempDirectory("kiln-flash");
            try {
                return work.in(folder);
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            throw FileFailure.of(
                    "cannot use the temporary folder", Path.of(System.getProperty("java.io.tmpdir", "")), e);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
