// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.report.JUnitXml;
import io.kiln.report.Json;
import io.kiln.report.VerifyReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Which goals of the last build have left nothing to do, and the files of which that holds. A goal that finds itself there, with the same
 * parameters, and all files with the same sizes and times, need not read any of them: that takes most of the time of a build in which nothing
 * changed. In doubt it runs; then digests decide.
 */
public final class UpToDate {
    private static final String FORMAT = "kiln up to date 2";
    private static final String GOAL = "goal ";
    private static final String INPUT = "input ";
    private static final String SNAPSHOT = "snapshot ";

    /** The clock of files may be late by this. */
    private static final Duration CLOCK = Duration.ofMillis(20);

    /** In the order in which they run: each may change what those behind it read. */
    private static final List<String> GOALS = List.of("generate", "assemble", "compile", "link", "verify", "test");

    private final Layout layout;
    private final String goal;
    private final String parameters;
    private final Instant began;
    private Memory before = Memory.none();

    /**
     * What is known of a goal, which begins now.
     *
     * @param goal its name
     * @param parameters all that it is told other than by files
     */
    public UpToDate(Layout layout, String goal, String parameters) {
        this(layout, goal, parameters, Instant.now());
    }

    /** As above, of a goal that began at another time. */
    UpToDate(Layout layout, String goal, String parameters, Instant began) {
        this.layout = layout;
        this.goal = goal;
        this.parameters = Digests.sha256(parameters);
        this.began = began;
    }

    /** Whether the goal has nothing to do. */
    public boolean holds() {
        Memory last = read();
        return parameters.equals(last.goals.get(goal)) && isCurrent(last);
    }

    private boolean isCurrent(Memory memory) {
        return snapshot(memory.inputs).text.equals(memory.snapshot);
    }

    /**
     * The goal begins its work, while no other build works in the folder. Until it keeps its result, nothing there is up to date, however the
     * goal ends; after that, the goals before it still are.
     */
    public void begin() {
        Memory last = read();
        last.goals.keySet().removeAll(GOALS.subList(GOALS.indexOf(goal), GOALS.size()));
        before = !last.goals.isEmpty() && isCurrent(last) ? last : Memory.none();
        forget(layout);
    }

    /**
     * Keeps that the goal has nothing left to do: its last act, while still no other build works in the folder.
     *
     * @param inputs files and folders that the build reads, besides those in the project's {@code src} and in the output folder; they need
     *     not exist
     */
    public void keep(Collection<Path> inputs) {
        TreeSet<Path> all = new TreeSet<>(before.inputs);
        inputs.forEach(input -> all.add(input.toAbsolutePath().normalize()));
        Snapshot now = snapshot(all);
        boolean isNamed = all.stream().allMatch(path -> path.toString().lines().count() == 1);
        // Nobody knows whether the goal has read a newer file as it is now.
        if (isNamed && !now.newestInput.isAfter(began.minus(CLOCK))) {
            SortedMap<String, String> goals = new TreeMap<>(before.goals);
            goals.put(goal, parameters);
            write(new Memory(goals, List.copyOf(all), now.text));
        }
    }

    /** Nothing in the folder is known to be up to date: a goal called by hand works there, or one has failed. */
    public static void forget(Layout layout) {
        try {
            Files.deleteIfExists(file(layout));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + file(layout), e);
        }
    }

    private static Path file(Layout layout) {
        return layout.reports().resolve("state").resolve("up-to-date.txt");
    }

    /** What the file has. */
    private record Memory(SortedMap<String, String> goals, List<Path> inputs, String snapshot) {
        static Memory none() {
            return new Memory(new TreeMap<>(), List.of(), "");
        }
    }

    private Memory read() {
        try {
            if (!Files.isRegularFile(file(layout))) {
                return Memory.none();
            }
            List<String> lines = Files.readAllLines(file(layout), StandardCharsets.UTF_8);
            if (!lines.get(0).equals(FORMAT)) {
                return Memory.none();
            }
            SortedMap<String, String> goals = new TreeMap<>();
            List<Path> inputs = new ArrayList<>();
            String snapshot = "";
            for (String line : lines) {
                if (line.startsWith(GOAL)) {
                    String[] words = line.split(" ", -1);
                    goals.put(words[1], words[2]);
                } else if (line.startsWith(INPUT)) {
                    inputs.add(Path.of(line.substring(INPUT.length())));
                } else if (line.startsWith(SNAPSHOT)) {
                    snapshot = line.substring(SNAPSHOT.length());
                }
            }
            return new Memory(goals, inputs, snapshot);
        } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
            return Memory.none();
        }
    }

    private void write(Memory memory) {
        StringBuilder text = new StringBuilder(FORMAT).append('\n');
        memory.goals.forEach((name, digest) ->
                text.append(GOAL).append(name).append(' ').append(digest).append('\n'));
        memory.inputs.forEach(input -> text.append(INPUT).append(input).append('\n'));
        text.append(SNAPSHOT).append(memory.snapshot).append('\n');
        WholeFiles.write(file(layout), text.toString());
    }

    /**
     * Sizes and times of files.
     *
     * @param text digest of all
     * @param newestInput when the last of those outside the output folder was changed
     */
    private record Snapshot(String text, Instant newestInput) {}

    private Snapshot snapshot(Collection<Path> inputs) {
        Stats stats = new Stats();
        stats.add(layout.project().resolve("src"));
        inputs.forEach(stats::add);
        Instant newest = stats.newest;
        stats.add(layout.generated());
        stats.add(layout.firmware());
        stats.add(layout.reports());
        stats.addLike(layout.image(""));
        stats.add(layout.archive());
        return new Snapshot(Digests.sha256(stats.text.toString()), newest);
    }

    /** Collects sizes and times. */
    private final class Stats {
        private final StringBuilder text = new StringBuilder();
        private Instant newest = Instant.MIN;
        private final boolean isUnix =
                layout.out().getFileSystem().supportedFileAttributeViews().contains("unix");

        /** Adds a file, or all files below a folder but for what Kiln makes in it, which is added by itself. */
        void add(Path path) {
            if (!Files.isDirectory(path)) {
                addFile(path);
                return;
            }
            try (Stream<Path> files = Files.walk(path, FileVisitOption.FOLLOW_LINKS)) {
                files.filter(file -> path.startsWith(layout.out()) || !isMade(file))
                        .sorted()
                        .forEach(this::addPart);
            } catch (IOException | UncheckedIOException e) {
                unknown(path);
            }
        }

        private boolean isMade(Path file) {
            return file.equals(layout.out())
                    || Stream.of(layout.generated(), layout.firmware(), layout.reports(), layout.archive())
                            .anyMatch(file::startsWith)
                    || (layout.out().equals(file.getParent())
                            && file.getFileName()
                                    .toString()
                                    .startsWith(layout.image("").getFileName().toString()));
        }

        /** A folder's own time says when a file in it came or went. */
        private void addPart(Path part) {
            if (!Files.isDirectory(part)) {
                addFile(part);
                return;
            }
            try {
                seen(Files.getLastModifiedTime(part));
            } catch (IOException e) {
                unknown(part);
            }
        }

        private void seen(FileTime time) {
            newest = time.toInstant().isAfter(newest) ? time.toInstant() : newest;
        }

        /** Adds the files whose names begin like that of another. */
        void addLike(Path path) {
            String name = path.getFileName().toString();
            Optional<Path> folder = Optional.ofNullable(path.getParent()).filter(Files::isDirectory);
            try (Stream<Path> files = folder.isPresent() ? Files.list(folder.get()) : Stream.empty()) {
                files.filter(file -> file.getFileName().toString().startsWith(name))
                        .sorted()
                        .forEach(this::addFile);
            } catch (IOException | UncheckedIOException e) {
                unknown(path);
            }
        }

        private void addFile(Path file) {
            if (file.equals(file(layout)) || BuildLock.owns(layout, file)) {
                return;
            }
            text.append(file);
            try {
                Map<String, Object> known = Files.readAttributes(
                        file, isUnix ? "unix:size,lastModifiedTime,ctime" : "size,lastModifiedTime,creationTime");
                for (Object value : new TreeMap<>(known).values()) {
                    text.append(' ').append(value);
                    if (value instanceof FileTime time) {
                        seen(time);
                    }
                }
            } catch (IOException e) {
                text.append(" absent");
            }
            text.append('\n');
        }

        /** What cannot be listed is never the same. */
        private void unknown(Path path) {
            text.append(path).append(' ').append(Instant.now()).append('\n');
        }
    }

    /** Lets one goal at a time write to an output folder; two compiling there would mix their objects. */
    public static final class BuildLock {
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

    /**
     * {@code verify.json} and the JUnit XML beside it. While a verification runs they say that it failed, so that any
     * interruption, even a power failure, leaves a failed record: a passed record is always of the last verification.
     */
    public static final class VerifyRecord {
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
        public static void keep(
                Layout layout, Log log, String goal, Runnable begins, Consumer<VerifyRecord> verification) {
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
}
