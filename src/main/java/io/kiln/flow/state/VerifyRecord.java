// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.report.JUnitXml;
import io.kiln.report.Json;
import io.kiln.report.VerifyReport;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * {@code verify.json} and the JUnit XML beside it. While a verification runs they say that it failed, so that any
 * interruption, even a power failure, leaves a failed record: a passed record is always of the last verification.
 */
public final class VerifyRecord {
    private static final String UNKNOWN = "unknown";
    private static final String NOT_ENDED =
            "the verification has not finished: it is still running, or was interrupted";

    private final Layout layout;
    private final Map<Path, byte[]> before = new TreeMap<>();
    private String board = UNKNOWN;
    private String ranOn = UNKNOWN;
    private long seed;
    private boolean finished;

    private VerifyRecord(Layout layout) {
        this.layout = layout;
    }

    /**
     * Runs a verification while no other build works in the folder, and records its result.
     *
     * @param goal name shown to waiting builds
     * @param verification the whole verification, including the parsing of its parameters
     * @throws KilnException what the verification throws; the record says the same
     */
    public static void keep(Layout layout, Log log, String goal, Consumer<VerifyRecord> verification) {
        keep(layout, log, goal, () -> {}, verification);
    }

    /**
     * As above.
     *
     * @param begins runs first of all, when no other build works in the folder any more
     */
    public static void keep(Layout layout, Log log, String goal, Runnable begins, Consumer<VerifyRecord> verification) {
        BuildLock.hold(log, layout, goal, () -> {
            begins.run();
            VerifyRecord record = new VerifyRecord(layout);
            record.begin();
            try {
                verification.accept(record);
            } catch (RuntimeException | Error e) {
                record.failed(e);
                throw e;
            }
        });
    }

    /** Removes the last record and writes that nothing is verified yet. */
    public void begin() {
        before.clear();
        for (Path file : files(layout)) {
            if (Files.isRegularFile(file)) {
                before.put(file, WholeFiles.read(file).toArray());
            }
        }
        remove(layout);
        write(VerifyReport.failed(board, ranOn, seed, NOT_ENDED), List.of());
        finished = false;
    }

    /** Sets the record's board, place and seed. */
    public void about(String newBoard, String newRanOn, long newSeed) {
        board = newBoard;
        ranOn = newRanOn;
        seed = newSeed;
    }

    /** Restores the last record, so that it can be checked whether it still holds. */
    public void restore() {
        remove(layout);
        before.forEach(WholeFiles::write);
        BuildPage.write(layout);
    }

    /** Leaves the records unchanged: there is nothing to verify, or nothing has changed. */
    public void leave() {
        restore();
        finished = true;
    }

    /** Drops the last record, because its image no longer exists. */
    public void forget() {
        before.clear();
    }

    /** Removes the record of an image that no longer exists; its inputs stay, so that the next verification can say what has changed. */
    public static void removeReports(Layout layout) {
        delete(List.of(json(layout), xml(layout)));
    }

    private static void remove(Layout layout) {
        delete(files(layout));
    }

    private static void delete(List<Path> files) {
        files.forEach(WholeFiles::delete);
    }

    /**
     * Writes the result of a verification.
     *
     * @param times how long each case took
     * @return the files written
     */
    public Collection<Path> write(VerifyReport report, List<Duration> times) {
        Json.write(json(layout), report);
        JUnitXml.write(xml(layout), report, times);
        BuildPage.write(layout);
        finished = true;
        return List.of(json(layout), xml(layout));
    }

    private void failed(Throwable failure) {
        if (finished) {
            return;
        }
        try {
            String text = UnforeseenFailure.told(failure).getMessage();
            write(VerifyReport.failed(board, ranOn, seed, text), List.of());
        } catch (UncheckedIOException e) {
            // The record already says that nothing is verified; the failure says why.
            failure.addSuppressed(e);
        }
    }

    private static List<Path> files(Layout layout) {
        return List.of(layout.state("verify"), json(layout), xml(layout));
    }

    private static Path json(Layout layout) {
        return layout.reports().resolve("verify.json");
    }

    private static Path xml(Layout layout) {
        return layout.reports().resolve("TEST-kiln-verify.xml");
    }
}
