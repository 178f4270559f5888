// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;

/** Writes files completely or not at all: to a temporary file beside it, then an atomic rename. */
public final class WholeFiles {
    private WholeFiles() {}

    /**
     * Writes the content, creating parent folders. A file with equal content is left alone, so that its time stays.
     *
     * @throws KilnException if it cannot be written; the file is unchanged then
     */
    public static void write(Path file, byte[] content) {
        try {
            if (Files.isRegularFile(file)
                    && Files.size(file) == content.length
                    && Arrays.equals(Files.readAllBytes(file), content)) {
                return;
            }
            Path parent = file.toAbsolutePath().getParent();
            Files.createDirectories(parent);
            Path temporary = Files.createTempFile(parent, "." + file.getFileName(), ".part");
            try {
                Files.write(temporary, content);
                temporary.toFile().setReadable(true, false);
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot write", file, e);
        }
    }

    /** Writes text as UTF-8. */
    public static void write(Path file, String text) {
        write(file, text.getBytes(StandardCharsets.UTF_8));
    }
}
