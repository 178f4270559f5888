// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Temporary folders for programs, some of which search the folder that they work in, and must find nothing of others there. */
public final class TemporaryFolder {
    private TemporaryFolder() {}

    /** What is done in the folder. */
    @FunctionalInterface
    public interface Work<T> {
        T in(Path folder) throws IOException;
    }

    /**
     * Works in an empty folder, which is deleted afterwards.
     *
     * @param prefix of the folder's name
     */
    public static <T> T use(String prefix, Work<T> work) {
        try {
            Path folder = Files.createTempDirectory(prefix);
            try {
                return work.in(folder);
            } finally {
                WholeFiles.remove(folder);
            }
        } catch (IOException e) {
            throw FileFailure.of(
                    "cannot use the temporary folder", Path.of(System.getProperty("java.io.tmpdir", "")), e);
        }
    }
}
