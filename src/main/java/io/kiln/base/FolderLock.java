// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A lock on a file in or beside a folder, exclusive between processes and between threads of this one. The operating
 * system releases it when the process ends, however it ends. The file stays, because deleting it would let two
 * processes in; a second file beside it names the holder.
 */
public final class FolderLock implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final long PAUSE_MILLIS = 100;

    private final Path file;
    private final FileChannel channel;

    /** The file system's identity of the file; empty where there is none and open files cannot be deleted. */
    private final Optional<Object> identity;

    private FolderLock(Path file, FileChannel channel, Optional<Object> identity) {
        this.file = file;
        this.channel = channel;
        this.identity = identity;
    }

    /** Waits up to half an hour for the lock of that name. */
    public static FolderLock acquire(Path folder, String name) {
        return acquire(folder, name, name, PATIENCE, holder -> {});
    }

    /**
     * Waits for the lock.
     *
     * @param folder folder of the file {@code <name>.lock}; created if it is missing
     * @param purpose the purpose shown to those who wait
     * @param patience longest wait
     * @param waiting gets the holder's name once, if the lock is held
     * @throws KilnException if the lock is still held then, or this thread is interrupted
     */
    public static FolderLock acquire(
            Path folder, String name, String purpose, Duration patience, Consumer<String> waiting) {
        Path file = folder.resolve(name + ".lock").toAbsolutePath();
        String text = purpose + ", process " + ProcessHandle.current().pid() + "\n";
        long start = System.nanoTime();
        boolean told = false;
        FolderLock lock = open(file);
        while (true) {
            if (lock.tryLock()) {
                if (lock.isInPlace()) {
                    WholeFiles.write(holderFile(file), text);
                    return lock;
                }
                lock.close();
                lock = open(file);
                continue;
            }
            if (System.nanoTime() - start >= patience.toNanos()) {
                throw Failure.FILE.exception(
                        "another build works here: " + holder(file),
                        file.getParent().toString(),
                        "one build at a time in one folder",
                        "Wait until it has finished, or stop it, and run the same command again");
            }
            if (!told) {
                waiting.accept(holder(file));
                told = true;
            }
            pause(file);
        }
    }

    /**
     * Opens the file and keeps it open while waiting: on POSIX systems a process loses its lock on a file when any of
     * its threads closes any channel to that file.
     */
    private static FolderLock open(Path file) {
        try {
            while (true) {
                Files.createDirectories(file.getParent());
                if (Files.notExists(file)) {
                    Files.write(file, new byte[0], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                }
                Optional<Object> before = identity(file);
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                if (before.equals(identity(file))) {
                    return new FolderLock(file, channel, before);
                }
                channel.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot lock " + file, e);
        }
    }

    private static Optional<Object> identity(Path file) {
        try {
            return Optional.ofNullable(
                    Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Tries to lock the file. The JVM reports a lock of its own threads by an exception, which counts as locked. */
    private boolean tryLock() {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot lock " + file, e);
        }
    }

    /** Whether the locked file is still in place; if its folder was deleted, another build may have started there. */
    public boolean isInPlace() {
        return Files.exists(file) && identity(file).equals(identity);
    }

    /** The file that names the lock's holder. It is separate, because closing the lock file after reading would release the lock. */
    private static Path holderFile(Path file) {
        return file.resolveSibling(file.getFileName() + ".holder");
    }

    private static String holder(Path file) {
        return read(holderFile(file))
                .flatMap(said -> said.lines().findFirst())
                .filter(line -> !line.isBlank())
                .orElse("an unknown process");
    }

    private static Optional<String> read(Path file) {
        try {
            return Optional.of(Files.readString(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static void pause(Path file) {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KilnException(
                    Failure.COMPUTER.problem("the build was interrupted while it waited", file.toString()), e);
        }
    }

    public Path guarding(Path folder) {
        return folder;
    }

    /** Releases the lock. */
    @Override
    public void close() {
        try {
            if (channel.isOpen() && isInPlace()) {
                Files.deleteIfExists(holderFile(file));
            }
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot release " + file, e);
        }
    }
}
