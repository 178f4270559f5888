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
 * A lock by a file in or beside a folder, held against other processes and against other threads of this one. The operating system
 * releases it when the process ends, however it ends. The file stays, because removing it would let two in; a second file beside it says
 * who holds the lock.
 */
public final class FolderLock implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final long PAUSE_MILLIS = 100;

    private final Path file;
    private final FileChannel channel;

    /** What the file system knows the file by; empty where it has no such thing, and lets nobody delete an open file. */
    private final Optional<Object> identity;

    private FolderLock(Path file, FileChannel channel, Optional<Object> identity) {
        this.file = file;
        this.channel = channel;
        this.identity = identity;
    }

    /** Waits up to half an hour until nobody else holds the lock of that name. */
    public static FolderLock acquire(Path folder, String name) {
        return acquire(folder, name, name, PATIENCE, holder -> {});
    }

    /**
     * Waits until nobody else holds the lock.
     *
     * @param folder where the file {@code <name>.lock} lies; made if it is missing
     * @param purpose what it is taken for, as others read it who wait
     * @param patience how long to wait
     * @param waiting hears once who holds the lock, if somebody does
     * @throws KilnException if somebody still holds it then, or this thread is interrupted
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
                throw new KilnException(new Problem(
                        "another build works here: " + holder(file),
                        file.getParent().toString(),
                        "one build at a time in one folder",
                        "Wait until it has ended, or end it, and run the same command again"));
            }
            if (!told) {
                waiting.accept(holder(file));
                told = true;
            }
            pause(file);
        }
    }

    /**
     * Opens the file and keeps it open while it waits: on POSIX systems a process loses its lock on a file when it closes any channel to
     * that file, also one of another thread.
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

    /** The JVM reports a lock of its own threads by an exception. */
    private boolean tryLock() {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot lock " + file, e);
        }
    }

    /** Whether the file is still the one that was locked; if its folder was deleted, another build may have begun there. */
    public boolean isInPlace() {
        return Files.exists(file) && identity(file).equals(identity);
    }

    /** Beside the lock, because reading that one would end it. */
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
            throw new KilnException(Problem.of("the build was interrupted while it waited", file.toString()), e);
        }
    }

    /** What the lock was taken for, handed through. */
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
