// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Assertions;

/** What every reader promises of every file: an answer or a message, in bounded memory, and it ends. */
public final class ReaderProperty {
    /** Readers take milliseconds: one that takes so long does not end. */
    private static final Duration ENDLESS = Duration.ofSeconds(30);

    /** More than the largest file that readers accept needs. */
    private static final long MOST_ALLOCATED = 512L << 20;

    private static final int TRIES = 4;
    private static final ThreadMXBean THREAD = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final Path KEPT = Path.of("target", "fuzz");

    private ReaderProperty() {}

    /** Checks a reader with a file, which is kept in {@code target/fuzz} if it breaks the reader. */
    static boolean holds(Reader reader, Bytes file, Path folder) {
        try {
            return holds(() -> reader.read(file, folder));
        } catch (AssertionError | RuntimeException | StackOverflowError | OutOfMemoryError e) {
            Path kept =
                    KEPT.resolve(reader + "-" + Digests.sha256(file.toArray()).substring(0, 16));
            WholeFiles.write(kept, file.toArray());
            throw new AssertionError(kept + " is neither read nor refused: " + e.getMessage(), e);
        }
    }

    /**
     * Reads a file; if that allocated much, again, since what is allocated each time is the reader's and not that of loading classes.
     *
     * @param read reads the file
     * @return whether the file was read rather than refused
     */
    public static boolean holds(Runnable read) {
        return Assertions.assertTimeoutPreemptively(ENDLESS, () -> isAnswered(read));
    }

    private static boolean isAnswered(Runnable read) {
        boolean isRight = false;
        long bytes = Long.MAX_VALUE;
        for (int i = 0; i < TRIES && bytes > MOST_ALLOCATED; i++) {
            long allocated = THREAD.getCurrentThreadAllocatedBytes();
            isRight = answers(read);
            bytes = Math.min(bytes, THREAD.getCurrentThreadAllocatedBytes() - allocated);
        }
        assertThat(bytes).as("bytes allocated").isLessThanOrEqualTo(MOST_ALLOCATED);
        return isRight;
    }

    private static boolean answers(Runnable read) {
        try {
            read.run();
            return true;
        } catch (KilnException e) {
            assertThat(e.problems())
                    .isNotEmpty()
                    .allSatisfy(p -> assertThat(p.what()).isNotBlank());
            return false;
        }
    }
}
