// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.target.InstructionCache;
import io.kiln.target.InstructionCache.SizeClass;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes logs of tuning records. */
public final class RecordFiles {
    private RecordFiles() {}

    /** Prints records as the text of a log. */
    public static String text(List<TuningRecord> records) {
        return records.stream().map(record -> record.line() + "\n").collect(Collectors.joining());
    }

    /** Writes a log completely or not at all. Of one that is there, the comments before the first record stay. */
    public static void write(Path file, List<TuningRecord> records) {
        WholeFiles.write(file, comments(file) + text(records));
    }

    private static String comments(Path file) {
        if (!Files.isRegularFile(file)) {
            return "";
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.takeWhile(line -> line.isBlank() || line.startsWith("#"))
                    .map(line -> line + "\n")
                    .collect(Collectors.joining());
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /** Appends records to a log. */
    public static void append(Path file, List<TuningRecord> records) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(
                    file, text(records), StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw FileFailure.of("cannot write", file, e);
        }
    }

    /** Reads a log to which records are to be added: half a line, left by a search that was killed, is removed. No file is an empty log. */
    public static RecordReader.Log open(Path file) {
        if (!Files.exists(file)) {
            return new RecordReader.Log(List.of(), List.of());
        }
        RecordReader.Log log = RecordReader.read(file);
        try {
            String text = Files.readString(file, StandardCharsets.UTF_8);
            String tail = text.substring(text.lastIndexOf('\n') + 1);
            if (!tail.isEmpty()) {
                String whole = text.substring(0, text.length() - tail.length());
                WholeFiles.write(file, RecordReader.isWhole(tail) ? text + "\n" : whole);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
        return log;
    }

    /** All records of several logs in order, equal lines once. */
    public static List<TuningRecord> merge(List<List<TuningRecord>> logs) {
        Map<String, TuningRecord> merged = new LinkedHashMap<>();
        logs.forEach(log -> log.forEach(record -> merged.putIfAbsent(record.line(), record)));
        return List.copyOf(merged.values());
    }

    /** Records that projects share: a folder of logs becomes one log with the best record of each layer, which others depend on. */
    public static final class SharedRecords {
        private static final String LOG = ".log";

        private SharedRecords() {}

        /**
         * Reads a log, or the best records of all logs in a folder.
         *
         * @throws KilnException if it is missing, or has lines that are not records
         */
        public static RecordReader.Log read(Path logOrFolder) {
            return Files.isDirectory(logOrFolder) ? folder(logOrFolder) : RecordReader.read(logOrFolder);
        }

        /**
         * Writes the best records of a folder's logs as one log. Equal logs give equal bytes.
         *
         * @return what was written, and the warnings of the logs
         * @throws KilnException if there is no log with records of successful measurements
         */
        public static RecordReader.Log pack(Path folder, Path file) {
            RecordReader.Log best = folder(folder);
            if (best.records().isEmpty()) {
                throw Failure.TUNE.exception(
                        "there are no tuning records to share",
                        folder.toString(),
                        "logs of kiln:tune, <board>.log",
                        "Run kiln:tune first");
            }
            RecordFiles.write(file, best.records());
            return best;
        }

        private static RecordReader.Log folder(Path folder) {
            List<List<TuningRecord>> logs = new ArrayList<>();
            List<String> warnings = new ArrayList<>();
            for (Path log : logs(folder)) {
                RecordReader.Log read = RecordReader.read(log);
                logs.add(read.records());
                warnings.addAll(read.warnings());
            }
            return new RecordReader.Log(HistoryBest.pick(RecordFiles.merge(logs)), warnings);
        }

        private static List<Path> logs(Path folder) {
            if (!Files.isDirectory(folder)) {
                return List.of();
            }
            try (Stream<Path> files = Files.list(folder)) {
                return files.filter(Files::isRegularFile)
                        .filter(file -> file.getFileName().toString().endsWith(LOG))
                        .sorted()
                        .toList();
            } catch (IOException e) {
                throw FileFailure.of("cannot list", folder, e);
            }
        }
    }

    /**
     * The records that come with Kiln: for each core what {@code kiln:tune} found to be better than the rules' choices, on a built-in board. Those
     * that minimise cycles lie in {@code toolchains/tuning/<core>.log}, those of another objective in {@code
     * toolchains/tuning/<objective>/<core>.log}. What minimises the cycles of boards whose flash waits lies in {@code
     * toolchains/tuning/board-cycles/<class>/<core>.log}, by the class of their caches of code.
     */
    public static final class ShippedRecords {
        private static final String FOLDER = "toolchains/tuning";
        private static final String LOG = ".log";
        private static final String CYCLES = "cycles";

        private ShippedRecords() {}

        /**
         * The text of a core's log; empty if there is none.
         *
         * @param core value of {@code -mcpu} or {@code -march}
         * @param objective what the records minimise, {@code cycles} or {@code instructions}, or {@code board-cycles/<class>}
         */
        public static Optional<String> text(String core, String objective) {
            return Optional.ofNullable(ResourceTree.read(FOLDER).get(file(core, objective)))
                    .map(Bytes::text);
        }

        private static String file(String core, String objective) {
            return (objective.equals(CYCLES) ? "" : objective + "/") + core + LOG;
        }

        /** The records of a core that minimise the cycles of boards with a cache of code as the target states it; none if it states none. */
        public static List<TuningRecord> ofBoardCycles(String core, String target) {
            return InstructionCache.stated(target).stream()
                    .mapToObj(bytes ->
                            of(core, "board-cycles/" + SizeClass.of(bytes).text()))
                    .flatMap(List::stream)
                    .filter(record -> InstructionCache.holds(record.task().target(), target))
                    .toList();
        }

        /** The records of a core, as {@link #text}. */
        public static List<TuningRecord> of(String core, String objective) {
            return text(core, objective)
                    .map(text -> RecordReader.parse(text, FOLDER + "/" + file(core, objective))
                            .records())
                    .orElse(List.of());
        }
    }
}
