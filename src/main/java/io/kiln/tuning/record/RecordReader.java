// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Members;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import io.kiln.tuning.record.TuningRecord.Result;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads logs of AutoTVM: a JSON object on each line; lines that begin with {@code #} and empty ones are comments. Files larger than 64 MiB and
 * lines longer than 1 MiB are refused, and so are pickled records, which would execute code.
 */
public final class RecordReader {
    private static final long MOST_BYTES = 64L << 20;
    private static final int MOST_LETTERS = 1 << 20;
    private static final int MOST_PROBLEMS = 20;
    private static final int MOST_WARNINGS = 20;
    private static final int INPUT_PARTS = 4;
    private static final int RESULT_PARTS = 4;
    private static final int ENTITY_PARTS = 3;

    private final String where;
    private final List<TuningRecord> records = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final Problems problems = new Problems();
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
                throw new KilnException(new Problem(
                        "the log of tuning records is too large",
                        file.toString(),
                        "at most 64 MiB",
                        "Keep its best records with kiln.tune.pickBest"));
            }
            return parse(Files.readString(file, StandardCharsets.UTF_8), file.toString());
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
        RecordReader reader = new RecordReader(where);
        int number = 0;
        for (int start = 0; start < text.length(); ) {
            int end = text.indexOf('\n', start);
            number++;
            if (end < 0) {
                reader.last(text.substring(start), number);
                break;
            }
            reader.line(text.substring(start, end), number);
            start = end + 1;
        }
        reader.problems.throwIfAny();
        if (reader.unsaid > 0) {
            reader.warnings.add(where + ": " + reader.unsaid + " more warnings");
        }
        return new Log(reader.records, reader.warnings);
    }

    /** A line without its end may be half a record, left by a search that was killed. */
    private void last(String line, int number) {
        if (isWhole(line)) {
            line(line, number);
        } else {
            warn(number, "the last record is incomplete and skipped");
        }
    }

    /** Whether the last line of a file, which has no end, is not the first half of a record. */
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

    private void line(String raw, int number) {
        String line = raw.strip();
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
            problems.add("not a tuning record: " + why, place(number), "a line of an AutoTVM log", "");
        }
    }

    private void record(String line, int number) throws IOException {
        if (line.length() > MOST_LETTERS) {
            throw new IOException("the line is longer than 1 MiB");
        }
        Members document = as(Members.class, RecordJson.parse(line), "the line");
        if (document.find("v").filter(v -> v.text().equals("0.1")).isPresent()) {
            warn(number, "records of version 0.1 are no longer supported; this one is skipped");
            return;
        }
        String version = part(document, "version").text();
        if (!version.equals(TuningRecord.VERSION)) {
            throw new IOException("version " + version + " in place of " + TuningRecord.VERSION);
        }
        List<RecordValue> input = items(part(document, "input"), INPUT_PARTS, "input");
        TaskKey task = new TaskKey(
                target(as(Text.class, input.get(0), "target").value(), number),
                as(Text.class, input.get(1), "template").value(),
                as(Items.class, input.get(2), "arguments").values());
        records.add(new TuningRecord(
                task,
                config(as(Members.class, part(document, "config"), "config")),
                result(items(part(document, "result"), RESULT_PARTS, "result")),
                renamed(document, input, task)));
    }

    /** {@code -target} is the old name of {@code -mtriple}. */
    private String target(String text, int number) {
        if (text.contains("-target")) {
            warn(number, "-target is read as -mtriple");
        }
        return text.replace("-target", "-mtriple");
    }

    private static Members renamed(Members document, List<RecordValue> input, TaskKey task) {
        if (input.get(0) instanceof Text target && target.value().equals(task.target())) {
            return document;
        }
        List<RecordValue> parts = new ArrayList<>(input);
        parts.set(0, new Text(task.target()));
        Map<String, RecordValue> values = new LinkedHashMap<>(document.values());
        values.put("input", new Items(parts));
        return new Members(values);
    }

    private static Config config(Members json) throws IOException {
        List<Entity> entities = new ArrayList<>();
        for (RecordValue value : as(Items.class, part(json, "entity"), "entity").values()) {
            List<RecordValue> parts = items(value, ENTITY_PARTS, "a knob");
            entities.add(new Entity(
                    as(Text.class, parts.get(0), "a knob's name").value(),
                    as(Text.class, parts.get(1), "a knob's kind").value(),
                    parts.get(2)));
        }
        return new Config(integer(part(json, "index"), "index"), entities);
    }

    private static Result result(List<RecordValue> parts) throws IOException {
        List<Double> costs = new ArrayList<>();
        for (RecordValue cost : as(Items.class, parts.get(0), "costs").values()) {
            costs.add(as(Numeric.class, cost, "a cost").real());
        }
        long error = integer(parts.get(1), "error number");
        return new Result(
                costs,
                MeasureError.of(error).orElseThrow(() -> new IOException("unknown error number " + error)),
                as(Numeric.class, parts.get(2), "duration").real(),
                as(Numeric.class, parts.get(3), "timestamp").real());
    }

    private static RecordValue part(Members json, String name) throws IOException {
        return json.find(name).orElseThrow(() -> new IOException("`" + name + "` is missing"));
    }

    private static List<RecordValue> items(RecordValue value, int count, String what) throws IOException {
        List<RecordValue> parts = as(Items.class, value, what).values();
        if (parts.size() != count) {
            throw new IOException(what + " has " + parts.size() + " parts in place of " + count);
        }
        return parts;
    }

    private static long integer(RecordValue value, String what) throws IOException {
        return as(Numeric.class, value, what).integer().orElseThrow(() -> new IOException(what + " is not an integer"));
    }

    private static <T extends RecordValue> T as(Class<T> type, RecordValue value, String what) throws IOException {
        if (!type.isInstance(value)) {
            throw new IOException(what + " has the wrong type");
        }
        return type.cast(value);
    }
}
