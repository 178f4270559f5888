// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Failure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.flow.spec.BuildSpec.Layout;
import java.nio.file.Path;
import java.time.Duration;

/** Lets one goal at a time write to an output folder; two compiling there would mix their objects. */
public final class BuildLock {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final String NAME = "build";

    private BuildLock() {}

    /**
     * Runs a goal's work once nobody else works in the folder; logs in one line whom it waits for.
     *
     * @param goal name shown to waiting builds, such as {@code kiln:compile}
     * @throws KilnException if another build works there for ten minutes, or deleted the folder meanwhile
     */
    public static void hold(Log log, Layout layout, String goal, Runnable work) {
        hold(log, layout, goal, PATIENCE, work);
    }

    /** Runs a goal's work as {@link #hold(Log, Layout, String, Runnable)} does, with a given waiting time. */
    static void hold(Log log, Layout layout, String goal, Duration patience, Runnable work) {
        try (FolderLock lock = FolderLock.acquire(
                layout.reports(),
                NAME,
                goal,
                patience,
                holder -> log.info("Waiting for another build in " + layout.out() + ": " + holder))) {
            try {
                work.run();
            } catch (RuntimeException e) {
                throw lock.isInPlace() ? e : new KilnException(deleted(layout), e);
            }
            if (!lock.isInPlace()) {
                throw new KilnException(deleted(layout));
            }
        }
    }

    /** Whether a file is one of those by which builds exclude each other. */
    static boolean owns(Layout layout, Path file) {
        return file.startsWith(layout.reports())
                && file.getFileName().toString().startsWith(NAME + ".lock");
    }

    private static Problem deleted(Layout layout) {
        return Failure.PROJECT.problem(
                "the folder was deleted while a build wrote to it",
                layout.out().toString(),
                "one build at a time in one folder",
                "Run the same command again while no other build runs there");
    }
}
