// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/** A lock by a file beside a folder, held against other processes and against other threads of this one. */
final class FolderLock implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final long PAUSE_MILLIS = 100;

    private final FileChannel channel;
    private final FileLock lock;

    private FolderLock(FileChannel channel, FileLock lock) {
        this.channel = channel;
        this.lock = lock;
    }

    /** Waits until nobody else holds the lock of that name. The empty file stays: removing it would let two in. */
    static FolderLock acquire(Path home, String name) throws IOException {
        Files.createDirectories(home);
        Path file = home.resolve(name + ".lock");
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (System.nanoTime() < end) {
                FileLock lock = tryLock(channel);
                if (lock != null) {
                    return new FolderLock(channel, lock);
                }
                Thread.sleep(PAUSE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            channel.close();
            throw new KilnException(Problem.of("the build was interrupted while it waited", file.toString()), e);
        }
        channel.close();
        throw new KilnException(new Problem(
                "another build has held this lock for " + PATIENCE.toMinutes() + " minutes", file.toString(), "", ""));
    }

    /** Null if somebody else has it; the JVM reports a lock of its own threads by an exception. */
    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    /** What the lock was taken for, handed through. */
    Path guarding(Path folder) {
        return folder;
    }

    @Override
    public void close() throws IOException {
        lock.release();
        channel.close();
    }
}
