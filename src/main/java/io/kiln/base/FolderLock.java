// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A lock by a file in or beside a folder, held against other processes and against other threads of this one. The operating system
 * releases it when the process ends, however it ends. The file stays, because removing it would let two in; it says who took the lock last.
 */
public final class FolderLock implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final long PAUSE_MILLIS = 100;

    /** Far behind the text, because some systems let nobody read what is locked. */
    private static final long LOCKED_BYTE = Long.MAX_VALUE - 1;

    private final Path file;
    private final FileChannel channel;
    private final String text;

    private FolderLock(Path file, FileChannel channel, String text) {
        this.file = file;
        this.channel = channel;
        this.text = text;
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
        String text = purpose + ", process " + ProcessHandle.current().pid() + "\n" + UUID.randomUUID() + "\n";
        long start = System.nanoTime();
        boolean told = false;
        while (true) {
            Optional<FolderLock> lock = tryAcquire(file, text);
            if (lock.isPresent()) {
                return lock.get();
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

    private static Optional<FolderLock> tryAcquire(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FolderLock lock = new FolderLock(file, channel, text);
            boolean taken = false;
            try {
                taken = tryLock(channel) && lock.sign();
            } finally {
                if (!taken) {
                    channel.close();
                }
            }
            return taken ? Optional.of(lock) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot lock " + file, e);
        }
    }

    /** The JVM reports a lock of its own threads by an exception. */
    private static boolean tryLock(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock(LOCKED_BYTE, 1, false);
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    /** Somebody may have deleted the file after it was opened: then the lock is one on nothing. */
    private boolean sign() throws IOException {
        channel.truncate(0);
        channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
        return isInPlace();
    }

    /** Whether the file is still the one that was locked; if its folder was deleted, another build may have begun there. */
    public boolean isInPlace() {
        return read(file).filter(text::equals).isPresent();
    }

    private static String holder(Path file) {
        return read(file)
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
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot release " + file, e);
        }
    }
}
