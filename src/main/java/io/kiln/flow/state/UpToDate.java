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
    private static final String FORMAT = "kiln up to date 1";
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

    /** Whether the goal has nothing to do. Otherwise the goals behind it have to run as well. */
    public boolean holds() {
        Memory last = read();
        if (!last.goals.isEmpty() && !snapshot(last.inputs).text.equals(last.snapshot)) {
            forget();
            return false;
        }
        if (parameters.equals(last.goals.get(goal))) {
            return true;
        }
        if (last.goals.keySet().removeAll(GOALS.subList(GOALS.indexOf(goal), GOALS.size()))) {
            write(last);
        }
        return false;
    }

    /**
     * Notes that the goal has nothing left to do, while no other build works in the folder.
     *
     * @param inputs files and folders that the build reads, besides those in the project's {@code src} and in the output folder; they need
     *     not exist
     */
    public void keep(Collection<Path> inputs) {
        Memory last = read();
        TreeSet<Path> all = new TreeSet<>(last.inputs);
        inputs.forEach(input -> all.add(input.toAbsolutePath().normalize()));
        Snapshot now = snapshot(all);
        boolean isNamed = all.stream().allMatch(path -> path.toString().lines().count() == 1);
        if (!isNamed || now.newestInput.isAfter(began.minus(CLOCK))) {
            // Nobody knows whether the goal has read the file as it is now.
            forget();
            return;
        }
        last.goals.put(goal, parameters);
        write(new Memory(last.goals, List.copyOf(all), now.text));
    }

    /** The goal has failed after it had left nothing to do. */
    public void forget() {
        try {
            Files.deleteIfExists(file());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + file(), e);
        }
    }

    private Path file() {
        return layout.reports().resolve("state").resolve("up-to-date.txt");
    }

    /** What the file has. */
    private record Memory(SortedMap<String, String> goals, List<Path> inputs, String snapshot) {}

    private Memory read() {
        Memory none = new Memory(new TreeMap<>(), List.of(), "");
        try {
            if (!Files.isRegularFile(file())) {
                return none;
            }
            List<String> lines = Files.readAllLines(file(), StandardCharsets.UTF_8);
            if (!lines.get(0).equals(FORMAT)) {
                return none;
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
            return none;
        }
    }

    private void write(Memory memory) {
        StringBuilder text = new StringBuilder(FORMAT).append('\n');
        memory.goals.forEach((name, digest) ->
                text.append(GOAL).append(name).append(' ').append(digest).append('\n'));
        memory.inputs.forEach(input -> text.append(INPUT).append(input).append('\n'));
        text.append(SNAPSHOT).append(memory.snapshot).append('\n');
        WholeFiles.write(file(), text.toString());
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
        return new Snapshot(Digests.sha256(stats.text.toString()), newest);
    }

    /** Collects sizes and times. */
    private final class Stats {
        private final StringBuilder text = new StringBuilder();
        private Instant newest = Instant.MIN;
        private final boolean isUnix =
                layout.out().getFileSystem().supportedFileAttributeViews().contains("unix");

        /** Adds a file, or all files below a folder. */
        void add(Path path) {
            if (!Files.isDirectory(path)) {
                addFile(path);
                return;
            }
            try (Stream<Path> files = Files.walk(path, FileVisitOption.FOLLOW_LINKS)) {
                files.filter(file -> !Files.isDirectory(file)).sorted().forEach(this::addFile);
            } catch (IOException | UncheckedIOException e) {
                unknown(path);
            }
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
            if (file.equals(file()) || BuildLock.owns(layout, file)) {
                return;
            }
            text.append(file);
            try {
                Map<String, Object> known = Files.readAttributes(
                        file, isUnix ? "unix:size,lastModifiedTime,ctime" : "size,lastModifiedTime");
                for (String name : List.of("size", "lastModifiedTime", "ctime")) {
                    Object value = known.get(name);
                    text.append(' ').append(value);
                    if (value instanceof FileTime time && time.toInstant().isAfter(newest)) {
                        newest = time.toInstant();
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
