// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.frontend.ModelFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;

/**
 * Files with data of a model's tensors. They lie in the model's folder or below it: no other file is opened, whatever
 * the model says.
 */
final class ExternalData {
    private static final String NEXT = "Save the model again, with its data in one file beside it";

    private final Optional<Path> folder;

    /** @param folder the model's folder; empty for a model in memory, which has no such files */
    ExternalData(Optional<Path> folder) {
        this.folder = folder;
    }

    /**
     * The bytes of a tensor.
     *
     * @param entries the tensor's {@code external_data}: location, offset, length
     * @param size number of bytes that the tensor's type needs
     * @param where the tensor, for messages
     */
    Bytes read(Map<String, String> entries, long size, String where) {
        String location = entries.getOrDefault("location", "");
        Path file = file(entries, where);
        long offset = number(entries, "offset", 0, where);
        long length = number(entries, "length", size, where);
        if (length != size) {
            throw failure("its external data has " + length + " bytes", where, size + " bytes for its type");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            if (offset > channel.size() - size) {
                throw failure(
                        "`" + location + "` has " + channel.size() + " bytes",
                        where,
                        size + " bytes from byte " + offset + " on");
            }
            ByteBuffer buffer = ByteBuffer.allocate(Math.toIntExact(size));
            int read = 0;
            while (buffer.hasRemaining() && read >= 0) {
                read = channel.read(buffer, offset + buffer.position());
            }
            if (buffer.hasRemaining()) {
                throw failure("`" + location + "` became shorter while it was read", where, "");
            }
            return Bytes.wrap(buffer.array());
        } catch (IOException e) {
            throw failure("`" + location + "` cannot be read: " + e.getMessage(), where, "");
        }
    }

    /** The file of a tensor. */
    Path file(Map<String, String> entries, String where) {
        return resolve(entries.getOrDefault("location", ""), where);
    }

    private Path resolve(String location, String where) {
        String expected = "a file in the model's folder, by a relative path without `..` and links";
        if (location.isEmpty() || location.indexOf('\\') >= 0 || location.indexOf(':') >= 0) {
            throw failure("its external data lies at `" + location + "`", where, expected);
        }
        Path base = folder.orElseThrow(
                () -> failure("its data is external, but the model is not a file", where, "data in the model"));
        try {
            Path relative = Path.of(location);
            for (Path part : relative) {
                if (part.toString().equals("..")) {
                    throw failure("its external data lies at `" + location + "`", where, expected);
                }
            }
            if (relative.isAbsolute()) {
                throw failure("its external data lies at `" + location + "`", where, expected);
            }
            return inside(base, relative, location, where, expected);
        } catch (InvalidPathException e) {
            throw failure("its external data lies at `" + location + "`", where, expected);
        }
    }

    private Path inside(Path base, Path relative, String location, String where, String expected) {
        try {
            Path root = base.toRealPath();
            Path file = root.resolve(relative).normalize();
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                throw failure("the external data `" + location + "` does not exist", where, expected);
            }
            boolean isInside = file.toRealPath().equals(file) && file.startsWith(root);
            if (!isInside || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw failure("its external data lies at `" + location + "`", where, expected);
            }
            return file;
        } catch (IOException e) {
            throw failure(
                    "the external data `" + location + "` of " + ModelFile.name(base) + " cannot be found", where, "");
        }
    }

    private static long number(Map<String, String> entries, String key, long otherwise, String where) {
        String text = entries.getOrDefault(key, String.valueOf(otherwise));
        if (!text.matches("[0-9]{1,18}")) {
            throw failure("the " + key + " of its external data is `" + text + "`", where, "a number of bytes");
        }
        return Long.parseLong(text);
    }

    private static KilnException failure(String what, String where, String expected) {
        return new KilnException(new Problem(what, where, expected, NEXT));
    }
}
