// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.tuning.record.RecordLine.RecordJson;
import io.kiln.tuning.record.RecordValue.Members;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads logs of AutoTVM: a JSON object on each line; lines that begin with {@code #} and empty ones are comments. Files larger than 64 MiB and
 * lines longer than 1 MiB are refused, and so are pickled records, which would execute code.
 */
public final class RecordReader {
    private static final long MOST_BYTES = 64L << 20;
    private static final String LINE = "a line of an AutoTVM log";
    private static final int MOST_PROBLEMS = 20;
    private static final int MOST_WARNINGS = 20;

    private final String where;
    private final List<TuningRecord> records = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final Problems problems = new Problems(Failure.TUNE);
    private int unsaid;

    private RecordReader(String where) {
        this.where = where;
    }

    /**
     * The records of a log.
     *
     * @param records in the order of the file
     * @param warnings what was left out, and why; of many only the first, and how many more there are
     */
    public record Log(List<TuningRecord> records, List<String> warnings) {
        public Log {
            records = List.copyOf(records);
            warnings = List.copyOf(warnings);
        }
    }

    /**
     * Reads a file.
     *
     * @throws KilnException if it is missing, too large, or has lines that are not records
     */
    public static Log read(Path file) {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw Failure.TUNE.exception(
                        "the log of tuning records is too large",
                        file.toString(),
                        "at most 64 MiB",
                        "Keep its best records with kiln.tune.pickBest");
            }
            try (Reader text = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
                return parse(text, file.toString());
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /**
     * Parses the text of a log.
     *
     * @param where its file, for messages
     */
    public static Log parse(String text, String where) {
        try {
            return parse(new StringReader(text), where);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Log parse(Reader text, String where) throws IOException {
        RecordReader reader = new RecordReader(where);
        LogLines lines = new LogLines(text);
        for (Optional<LogLines.Line> next = lines.next(); next.isPresent(); next = lines.next()) {
            reader.line(next.get());
        }
        reader.problems.throwIfAny();
        if (reader.unsaid > 0) {
            reader.warnings.add(where + ": " + reader.unsaid + " more warnings");
        }
        return new Log(reader.records, reader.warnings);
    }

    /** Whether the last line of a file, which has no line end, is a whole record rather than its first half. */
    static boolean isWhole(String line) {
        try {
            return !line.startsWith("{") || RecordJson.parse(line) instanceof Members;
        } catch (IOException e) {
            return false;
        }
    }

    private void warn(int number, String what) {
        if (warnings.size() < MOST_WARNINGS) {
            warnings.add(place(number) + ": " + what);
        } else {
            unsaid++;
        }
    }

    private String place(int number) {
        return where + ":" + number;
    }

    private void line(LogLines.Line read) {
        int number = read.number();
        if (read.isCut()) {
            problems.add("not a tuning record: the line is longer than 1 MiB", place(number), LINE, "");
            return;
        }
        if (!read.isEnded() && !isWhole(read.text())) {
            // A search that was killed leaves half a record.
            warn(number, "the last record is incomplete and skipped");
            return;
        }
        String line = read.text().strip();
        if (line.isEmpty() || line.startsWith("#") || problems.list().size() >= MOST_PROBLEMS) {
            return;
        }
        if (!line.startsWith("{") && line.indexOf('\t') >= 0) {
            problems.add(
                    "a pickled record, which executes code when it is read, is refused",
                    place(number),
                    "records in JSON",
                    "Convert the log with the TVM that wrote it: python -m tvm.autotvm.record --mode read");
            return;
        }
        try {
            record(line, number);
        } catch (IOException | RuntimeException e) {
            String why = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            problems.add("not a tuning record: " + why, place(number), LINE, "");
        }
    }

    private void record(String line, int number) throws IOException {
        Members document = RecordLine.as(Members.class, RecordJson.parse(line), "the line");
        if (document.find("v").filter(v -> v.text().equals("0.1")).isPresent()) {
            warn(number, "records of version 0.1 are no longer supported; this one is skipped");
            return;
        }
        Members read = RecordLine.of(document).document();
        if (!read.equals(document)) {
            warn(number, "-target is read as -mtriple");
        }
        records.add(new TuningRecord(read.text()));
    }

    /** The lines of a log one after another, so that no more than one of them is in memory; of longer ones than 1 MiB only the beginning. */
    private static final class LogLines {
        private static final int MOST_LETTERS = 1 << 20;

        private final Reader text;
        private int number;

        LogLines(Reader text) {
            this.text = new BufferedReader(text);
        }

        /**
         * A line.
         *
         * @param number from 1
         * @param text without the line's end
         * @param isEnded whether it has an end, as all but the last line have
         * @param isCut whether the line is longer than its text
         */
        record Line(int number, String text, boolean isEnded, boolean isCut) {}

        /** The next line; empty at the end. */
        Optional<Line> next() throws IOException {
            StringBuilder line = new StringBuilder();
            boolean isCut = false;
            int letter = text.read();
            if (letter < 0) {
                return Optional.empty();
            }
            while (letter >= 0 && letter != '\n') {
                if (line.length() < MOST_LETTERS) {
                    line.append((char) letter);
                } else {
                    isCut = true;
                }
                letter = text.read();
            }
            number++;
            return Optional.of(new Line(number, line.toString(), letter >= 0, isCut));
        }
    }
}
