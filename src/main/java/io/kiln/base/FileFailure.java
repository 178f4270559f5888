// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Messages for files and folders that cannot be read or written, in the same words on every system. */
public final class FileFailure {
    /** Messages of Linux, macOS and Windows about a full disk. */
    private static final List<String> FULL =
            List.of("no space left on device", "disk full", "not enough space on the disk", "disk quota exceeded");

    private static final List<String> NO_FOLDER = List.of("not a directory");
    private static final String NO_SPACE = "no space left on the disk";
    private static final String FREE_SPACE = "Free some space, then run the build again";
    private static final List<String> READ_ONLY = List.of("read-only file system", "media is write protected");

    private static final List<String> DENIED = List.of("permission denied", "operation not permitted");
    private static final List<String> OPEN_FILES = List.of("too many open files");

    private FileFailure() {}

    /**
     * The exception for a failed access.
     *
     * @param action the attempted action, such as {@code cannot write}
     * @param file the file or folder
     * @param failure an {@link IOException}, or an {@link UncheckedIOException} of a stream of paths
     */
    public static KilnException of(String action, Path file, Exception failure) {
        return new KilnException(
                Failure.FILE.problem(
                        action + ": " + reason(failure), place(file, system(failure)), "", advice(failure)),
                failure);
    }

    /** Whether a program's output says that the disk is full. */
    public static boolean isDiskFull(String said) {
        return says(said, FULL);
    }

    /** The exception that the system reported. */
    private static Throwable system(Exception failure) {
        return failure instanceof UncheckedIOException unchecked ? unchecked.getCause() : failure;
    }

    /** The problem of a program that could not write its output, instead of the program's own messages. */
    public static Problem diskFull(Path place) {
        return Failure.FILE.problem("cannot write: " + NO_SPACE, place.toString(), "", FREE_SPACE);
    }

    /**
     * The reason of a failed access in words, without the file.
     *
     * @param failure as for {@link #of}
     */
    public static String reason(Exception failure) {
        Throwable cause = system(failure);
        if (says(cause, FULL)) {
            return NO_SPACE;
        }
        if (says(cause, READ_ONLY)) {
            return "the file system is read-only";
        }
        if (cause instanceof NoSuchFileException || cause instanceof FileNotFoundException) {
            return "there is no such file or folder";
        }
        if (isDenied(cause)) {
            return "permission denied";
        }
        if (cause instanceof FileAlreadyExistsException
                || cause instanceof NotDirectoryException
                || says(cause, NO_FOLDER)) {
            return "a file is where a folder is needed";
        }
        if (cause instanceof DirectoryNotEmptyException) {
            return "the folder is not empty";
        }
        if (cause instanceof FileSystemLoopException) {
            return "links lead in a circle";
        }
        Optional<String> reason = cause instanceof FileSystemException system
                ? Optional.ofNullable(system.getReason())
                : Optional.ofNullable(cause.getMessage());
        return reason.orElse(cause.getClass().getSimpleName());
    }

    /** The file named by the system, if it is another one: a part of the file's path, or a file below it. */
    private static String place(Path file, Throwable cause) {
        boolean namesAnother = cause instanceof FileSystemException system
                && system.getFile() != null
                && !says(cause, FULL)
                && (Path.of(system.getFile()).startsWith(file) || file.startsWith(system.getFile()));
        return namesAnother ? ((FileSystemException) cause).getFile() : file.toString();
    }

    /**
     * What to do about a failed access; empty if the reason says enough.
     *
     * @param failure as for {@link #of}
     */
    public static String advice(Exception failure) {
        Throwable cause = system(failure);
        if (says(cause, FULL)) {
            return FREE_SPACE;
        }
        if (says(cause, READ_ONLY)) {
            return "Choose another folder, or make it writable";
        }
        if (says(cause, OPEN_FILES)) {
            return "Raise the limit of open files (ulimit -n), then run the build again";
        }
        return isDenied(cause) ? "Correct the permissions, or choose another folder" : "";
    }

    private static boolean isDenied(Throwable cause) {
        return cause instanceof AccessDeniedException || says(cause, DENIED);
    }

    private static boolean says(Throwable failure, List<String> words) {
        return says(Optional.ofNullable(failure.getMessage()).orElse(""), words);
    }

    private static boolean says(String message, List<String> words) {
        String lower = message.toLowerCase(Locale.ROOT);
        return words.stream().anyMatch(lower::contains);
    }
}
