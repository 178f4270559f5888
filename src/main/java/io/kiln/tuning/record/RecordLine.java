// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.kiln.tuning.record.RecordValue.Flag;
import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Members;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The parts of a line of a log.
 *
 * @param task what was measured; the old option {@code -target} of its target is read as {@code -mtriple}
 * @param config with which knobs
 * @param result and what came out
 * @param document the whole line, with what Kiln does not use
 */
record RecordLine(TaskKey task, Config config, Result result, Members document) {
    private static final int INPUT_PARTS = 4;
    private static final int RESULT_PARTS = 4;
    private static final int ENTITY_PARTS = 3;

    /**
     * Reads the object of a line.
     *
     * @throws IOException if it is not a record of version 0.2
     */
    static RecordLine of(Members document) throws IOException {
        String version = part(document, "version").text();
        if (!version.equals(TuningRecord.VERSION)) {
            throw new IOException("version " + version + " in place of " + TuningRecord.VERSION);
        }
        List<RecordValue> input = items(part(document, "input"), INPUT_PARTS, "input");
        TaskKey task = new TaskKey(
                as(Text.class, input.get(0), "target").value().replace("-target", "-mtriple"),
                as(Text.class, input.get(1), "template").value(),
                as(Items.class, input.get(2), "arguments").values());
        return new RecordLine(
                task,
                config(as(Members.class, part(document, "config"), "config")),
                result(items(part(document, "result"), RESULT_PARTS, "result")),
                renamed(document, input, task));
    }

    /**
     * Parses a line that {@link #of} accepted before.
     *
     * @throws IllegalArgumentException if it is not a record
     */
    static RecordLine parse(String line) {
        try {
            return of(as(Members.class, RecordJson.parse(line), "the line"));
        } catch (IOException e) {
            throw new IllegalArgumentException("not a tuning record: " + line, e);
        }
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

    static <T extends RecordValue> T as(Class<T> type, RecordValue value, String what) throws IOException {
        if (!type.isInstance(value)) {
            throw new IOException(what + " has the wrong type");
        }
        return type.cast(value);
    }

    /** Parses one line of a log; nesting, strings and numbers have limits. */
    static final class RecordJson {
        private static final int MOST_DEPTH = 64;
        private static final int MOST_LETTERS = 100_000;
        private static final int MOST_DIGITS = 400;

        private static final JsonFactory FACTORY = JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MOST_DEPTH)
                        .maxStringLength(MOST_LETTERS)
                        .maxNameLength(MOST_DIGITS)
                        .maxNumberLength(MOST_DIGITS)
                        .build())
                .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build();

        private RecordJson() {}

        /**
         * The value of a text.
         *
         * @throws IOException if it is not exactly one JSON value, or exceeds a limit
         */
        static RecordValue parse(String text) throws IOException {
            try (JsonParser parser = FACTORY.createParser(text)) {
                RecordValue value = value(parser, parser.nextToken());
                if (parser.nextToken() != null) {
                    throw new IOException("more than one value");
                }
                return value;
            }
        }

        private static RecordValue value(JsonParser parser, JsonToken token) throws IOException {
            if (token == null) {
                throw new IOException("the text ends too early");
            }
            return switch (token) {
                case START_OBJECT -> members(parser);
                case START_ARRAY -> items(parser);
                case VALUE_STRING -> new Text(parser.getText());
                case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new Numeric(parser.getText());
                case VALUE_TRUE -> new Flag(true);
                case VALUE_FALSE -> new Flag(false);
                case VALUE_NULL -> RecordValue.NOTHING;
                default -> throw new IOException("unexpected " + token);
            };
        }

        private static Members members(JsonParser parser) throws IOException {
            Map<String, RecordValue> values = new LinkedHashMap<>();
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = parser.currentName();
                values.put(name, value(parser, parser.nextToken()));
            }
            return new Members(values);
        }

        private static Items items(JsonParser parser) throws IOException {
            List<RecordValue> values = new ArrayList<>();
            for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
                values.add(value(parser, token));
            }
            return new Items(values);
        }
    }
}
