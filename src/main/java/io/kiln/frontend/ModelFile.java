// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Reads files named by the user. */
public final class ModelFile {
    private ModelFile() {}

    /**
     * Reads a whole file.
     *
     * @param limit largest size in bytes
     * @param expected description of the expected file, for messages
     * @throws KilnException if it is not a regular file, is larger, or cannot be read
     */
    public static Bytes read(Path file, long limit, String expected) {
        if (!Files.isRegularFile(file)) {
            String what = Files.isDirectory(file)
                    ? "this is a directory"
                    : Files.exists(file) ? "this is not a regular file" : "the file does not exist";
            throw new KilnException(new Problem(what, file.toString(), expected, "Set kiln.model to the model file"));
        }
        try {
            long size = Files.size(file);
            if (size > limit) {
                throw new KilnException(new Problem(
                        String.format(Locale.ROOT, "the file has %,d bytes", size),
                        file.toString(),
                        String.format(Locale.ROOT, "at most %,d bytes", limit),
                        "Choose a model that fits a microcontroller"));
            }
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new KilnException(
                    new Problem("the file cannot be read: " + e.getMessage(), file.toString(), "", ""), e);
        }
    }

    /** A file's name without its folder. */
    public static String name(Path file) {
        Path name = file.getFileName();
        return name == null ? file.toString() : name.toString();
    }
}
