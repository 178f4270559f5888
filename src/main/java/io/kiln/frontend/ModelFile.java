// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads files named by the user. */
public final class ModelFile {
    private ModelFile() {}

    /**
     * Reads a whole file.
     *
     * @param limits what may be read
     * @param usual the format's usual limit in bytes
     * @param expected description of the expected file, for messages
     * @throws KilnException if it is not a regular file, is larger, or cannot be read
     */
    public static Bytes read(Path file, ReadLimits limits, long usual, String expected) {
        if (!Files.isRegularFile(file)) {
            String what = Files.isDirectory(file)
                    ? "this is a directory"
                    : Files.exists(file) ? "this is not a regular file" : "the file does not exist";
            throw Failure.MODEL.exception(what, file.toString(), expected, "Set kiln.model to the model file");
        }
        try {
            limits.check(Files.size(file), file.toString(), usual);
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new KilnException(
                    Failure.MODEL.problem("the file cannot be read: " + e.getMessage(), file.toString(), "", ""), e);
        }
    }

    /** A file's name without its folder. */
    public static String name(Path file) {
        Path name = file.getFileName();
        return name == null ? file.toString() : name.toString();
    }
}
