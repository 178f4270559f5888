// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
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
 * Files with data of a model's tensors: those directly beside the model, or in the folder that the user names, and below it. They are regular
 * files that are neither hidden nor reached by links. No other file is opened, whatever the model says.
 */
public final class ExternalData {
    /** Of a model in memory, which has no such files. */
    public static final ExternalData NONE = new ExternalData(Optional.empty(), false, "");

    private static final String NEXT = "Save the model again, with its data in one file beside it";
    private static final String NAME_IT =
            "Name the folder of the model's data with kiln.onnx.data, if the file belongs to the model";

    private final Optional<Path> folder;
    private final boolean isNamed;
    private final String advice;

    private ExternalData(Optional<Path> folder, boolean isNamed, String advice) {
        this.folder = folder;
        this.isNamed = isNamed;
        this.advice = advice;
    }

    /** The files directly beside a model. */
    public static ExternalData beside(Path model) {
        return new ExternalData(
                Optional.ofNullable(model.toAbsolutePath().getParent()),
                false,
                "Put the file beside the model, or convert the model with its data inside");
    }

    /** The files of a model; the limits say if the user names a folder. */
    public static ExternalData of(Path model, ReadLimits limits) {
        return limits.dataFolder()
                .map(named -> new ExternalData(Optional.of(named.toAbsolutePath()), true, NAME_IT))
                .orElseGet(() -> new ExternalData(
                        Optional.ofNullable(model.toAbsolutePath().getParent()), false, NAME_IT));
    }

    /**
     * The bytes of a tensor.
     *
     * @param entries the tensor's {@code external_data}: location, offset, length
     * @param size number of bytes that the tensor's type needs
     * @param where the tensor, for messages
     */
    public Bytes read(Map<String, String> entries, long size, String where) {
        String location = entries.getOrDefault("location", "");
        Path file = resolve(location, where);
        long offset = number(entries, "offset", 0, where);
        long length = number(entries, "length", size, where);
        if (length != size) {
            throw failure("its external data has " + length + " bytes", where, size + " bytes for its type");
        }
        return read(file, offset, size, where);
    }

    /**
     * Bytes of a file.
     *
     * @param location its name, as the model states it
     * @param offset of the first byte, 0 or more
     * @param where the tensor, for messages
     */
    public Bytes read(String location, long offset, long size, String where) {
        return read(resolve(location, where), offset, size, where);
    }

    private static Bytes read(Path file, long offset, long size, String where) {
        String location = ModelFile.name(file);
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

    /** The file of a tensor; empty if {@link #read} refuses it. */
    public Optional<Path> find(Map<String, String> entries, String where) {
        try {
            return Optional.of(resolve(entries.getOrDefault("location", ""), where));
        } catch (KilnException refusedLater) {
            return Optional.empty();
        }
    }

    private Path resolve(String location, String where) {
        Path base = folder.orElseThrow(
                () -> failure("its data is external, but the model is not a file", where, "data in the model"));
        KilnException refused = refused(location, base, where);
        if (location.isEmpty() || location.indexOf('\\') >= 0 || location.indexOf(':') >= 0) {
            throw refused;
        }
        try {
            Path relative = Path.of(location);
            for (Path part : relative) {
                if (part.toString().startsWith(".") && !part.toString().equals(".")) {
                    throw refused;
                }
            }
            if (relative.isAbsolute() || (!isNamed && relative.normalize().getNameCount() != 1)) {
                throw refused;
            }
            Path root = base.toRealPath();
            Path file = root.resolve(relative).normalize();
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                throw Failure.MODEL.exception(
                        "the external data `" + location + "` does not exist", where, expected(base), advice);
            }
            boolean isInside = file.toRealPath().equals(file) && file.startsWith(root);
            if (!isInside || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.isHidden(file)) {
                throw refused;
            }
            return file;
        } catch (InvalidPathException e) {
            throw refused;
        } catch (IOException e) {
            throw failure(
                    "the external data `" + location + "` of " + ModelFile.name(base) + " cannot be found", where, "");
        }
    }

    private KilnException refused(String location, Path base, String where) {
        return Failure.MODEL.exception("its external data lies at `" + location + "`", where, expected(base), advice);
    }

    private String expected(Path base) {
        return (isNamed ? "a file in " + base + " (kiln.onnx.data)" : "a file directly beside the model")
                + ", by a relative path without `..`, hidden names and links";
    }

    private static long number(Map<String, String> entries, String key, long otherwise, String where) {
        String text = entries.getOrDefault(key, String.valueOf(otherwise));
        if (!text.matches("[0-9]{1,18}")) {
            throw failure("the " + key + " of its external data is `" + text + "`", where, "a number of bytes");
        }
        return Long.parseLong(text);
    }

    private static KilnException failure(String what, String where, String expected) {
        return Failure.MODEL.exception(what, where, expected, NEXT);
    }
}
