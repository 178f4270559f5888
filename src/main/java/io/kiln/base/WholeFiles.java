// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
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
            Path temporary = temporary(file);
            try {
                Files.write(temporary, content);
                publish(temporary, file);
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot write", file, e);
        }
    }

    /** Writes the bytes of a file, in pieces. */
    @FunctionalInterface
    public interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * As {@link #write(Path, byte[])}, of content that is not held in memory.
     *
     * @throws KilnException if it cannot be written; the file is unchanged then
     */
    public static void stream(Path file, Content content) {
        try {
            Path temporary = temporary(file);
            try {
                try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(temporary))) {
                    content.writeTo(out);
                }
                if (!Files.isRegularFile(file) || Files.mismatch(temporary, file) >= 0) {
                    publish(temporary, file);
                }
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot write", file, e);
        }
    }

    private static Path temporary(Path file) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        Files.createDirectories(parent);
        return Files.createTempFile(parent, "." + file.getFileName(), ".part");
    }

    private static void publish(Path temporary, Path file) throws IOException {
        temporary.toFile().setReadable(true, false);
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Writes text as UTF-8. */
    public static void write(Path file, String text) {
        write(file, text.getBytes(StandardCharsets.UTF_8));
    }
}
