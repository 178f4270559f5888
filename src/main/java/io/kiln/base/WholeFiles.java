// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Reads whole files and lists folders, with a {@link FileFailure} for what cannot be read. Writes files completely or not at all: to a temporary
 * file beside it, then an atomic rename. Like every new file, the file has the permissions that the umask of this process leaves: nothing here
 * sets permissions afterwards.
 */
public final class WholeFiles {
    private static final String PROGRAM = "rwxrwxrwx";
    private static final Set<OpenOption> NEW = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

    private WholeFiles() {}

    /** The content of a file. */
    public static Bytes read(Path file) {
        try {
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /**
     * The content of a file of limited size.
     *
     * @param most the most bytes
     * @param family of the failure of a larger file
     */
    public static Bytes read(Path file, long most, Failure family) {
        long size = file.toFile().length();
        if (size > most) {
            throw family.exception("the file has " + size + " bytes", file.toString(), "at most " + most);
        }
        return read(file);
    }

    /** The text of a file; bytes that are no text in UTF-8 cannot be read. */
    public static String text(Path file) {
        return text(file, StandardCharsets.UTF_8);
    }

    public static String text(Path file, Charset charset) {
        try {
            return Files.readString(file, charset);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /** The files and folders in a folder, sorted. */
    public static List<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
    }

    /** The regular files in a folder and in those below it, sorted. */
    public static List<Path> below(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
    }

    /** Deletes a file, or an empty folder; does nothing if there is none. */
    public static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw FileFailure.of("cannot delete", file, e);
        }
    }

    /** Deletes everything in a folder, without following links; does nothing if there is no folder. */
    public static void clear(Path folder) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> walk = Files.walk(folder)) {
            for (Path path : walk.filter(path -> !path.equals(folder))
                    .sorted(Comparator.reverseOrder())
                    .toList()) {
                Files.delete(path);
            }
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot empty", folder, e);
        }
    }

    /**
     * Writes the content, creating parent folders. A file with equal content is left alone, so that its time stays.
     *
     * @throws KilnException if it cannot be written; the file is unchanged then
     */
    public static void write(Path file, byte[] content) {
        write(file, content, false);
    }

    /** Deletes a folder with its content, as {@link #clear} does; or a file. */
    public static void remove(Path folder) {
        clear(folder);
        delete(folder);
    }

    /** As {@link #write(Path, byte[])}. */
    public static void write(Path file, Bytes content) {
        write(file, content.toArray(), false);
    }

    /** Writes files by their paths in a folder. */
    public static void write(Path folder, Map<String, Bytes> files) {
        files.forEach((path, content) -> write(folder.resolve(path), content));
    }

    /** Copies a file, as {@link #write(Path, byte[])} writes it. */
    public static void copy(Path from, Path to) {
        write(to, read(from));
    }

    /** Writes a text in UTF-8, as {@link #write(Path, byte[])} does. */
    public static void write(Path file, String text) {
        write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes a file that those who may read it may execute, otherwise as {@link #write(Path, byte[])} does. */
    public static void writeProgram(Path file, byte[] content) {
        write(file, content, true);
    }

    /**
     * Creates a program that does not exist yet.
     *
     * @throws IOException if it exists, or cannot be created
     */
    public static SeekableByteChannel newProgram(Path file) throws IOException {
        return Files.newByteChannel(file, NEW, permissions(true));
    }

    private static void write(Path file, byte[] content, boolean isProgram) {
        try {
            boolean isSame = Files.isRegularFile(file)
                    && Files.size(file) == content.length
                    && (!isProgram || Files.isExecutable(file))
                    && Arrays.equals(Files.readAllBytes(file), content);
            if (!isSame) {
                replace(file, isProgram, out -> out.write(content));
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
     * Writes content that is not held in memory, as {@link #write(Path, byte[])} does.
     *
     * @throws KilnException if it cannot be written; the file is unchanged then
     */
    public static void stream(Path file, Content content) {
        try {
            replace(file, false, content);
        } catch (IOException e) {
            throw FileFailure.of("cannot write", file, e);
        }
    }

    private static void replace(Path file, boolean isProgram, Content content) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        if (!Files.isDirectory(parent)) {
            Files.createDirectories(parent);
        }
        Path temporary = parent.resolve("." + file.getFileName() + "." + UUID.randomUUID() + ".part");
        try {
            try (OutputStream out = new BufferedOutputStream(
                    Channels.newOutputStream(Files.newByteChannel(temporary, NEW, permissions(isProgram))))) {
                content.writeTo(out);
            }
            boolean isSame = !isProgram && Files.isRegularFile(file) && Files.mismatch(temporary, file) < 0;
            if (!isSame) {
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Permissions that are asked for when a file is created, from which the system takes the umask. */
    private static FileAttribute<?>[] permissions(boolean isProgram) {
        boolean hasPermissions =
                FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
        return isProgram && hasPermissions
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(PROGRAM))
                }
                : new FileAttribute<?>[0];
    }

    /** Temporary folders for programs, some of which search the folder that they work in, and must find nothing of others there. */
    public static final class TemporaryFolder {
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
}
