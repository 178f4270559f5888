// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Digests;
import io.kiln.base.WholeFiles;
import io.kiln.flow.spec.BuildSpec.Layout;
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
}
