// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.base.FileFailure;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
}
