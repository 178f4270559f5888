// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Members;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A measurement of one configuration of an operator: one line of an AutoTVM log, version 0.2. Its parts are parsed when they are asked for:
 * as values they take many times the memory of the line.
 *
 * @param line the line as {@link RecordReader} read it or {@link #of} made it, without a line end
 */
public record TuningRecord(String line) {
    static final String VERSION = "0.2";

    /** The version of TVM whose format the records have, written where TVM writes its own version. */
    private static final String TVM_VERSION = "0.16.0";

    /** The cost of a failed measurement, in seconds. */
    private static final double FAILED = 1e9;

    /**
     * The knobs' values.
     *
     * @param index of the configuration in the task's space
     * @param entities the value of each knob, in the order of the space
     */
    public record Config(long index, List<Entity> entities) {
        public Config {
            entities = List.copyOf(entities);
        }

        private Members json() {
            Map<String, RecordValue> json = new LinkedHashMap<>();
            json.put("index", Numeric.of(index));
            json.put("code_hash", RecordValue.NOTHING);
            json.put(
                    "entity",
                    new Items(entities.stream().<RecordValue>map(Entity::json).toList()));
            return new Members(json);
        }
    }

    /**
     * The value of a knob.
     *
     * @param name the knob
     * @param kind {@code sp} for a split, {@code re} for an order, {@code an} for annotations, {@code ot} for any other
     */
    public record Entity(String name, String kind, RecordValue value) {
        /** A knob of the kind {@code ot}. */
        public static Entity other(String name, RecordValue value) {
            return new Entity(name, "ot", value);
        }

        private Items json() {
            return Items.of(new Text(name), new Text(kind), value);
        }
    }

    /**
     * The result of a measurement.
     *
     * @param costs one for each repetition, in seconds
     * @param error how it ended
     * @param allCost seconds that building and measuring took
     * @param timestamp seconds since 1970, UTC
     */
    public record Result(List<Double> costs, MeasureError error, double allCost, double timestamp) {
        public Result {
            costs = List.copyOf(costs);
        }

        /** A measurement that did not succeed. */
        public static Result failed(MeasureError error, double allCost, double timestamp) {
            return new Result(List.of(FAILED), error, allCost, timestamp);
        }

        /** Whether the configuration computes the right answer and has a cost. */
        public boolean isMeasured() {
            return error == MeasureError.NONE;
        }

        /** The mean of the costs, in seconds. */
        public double mean() {
            return costs.stream().mapToDouble(Double::doubleValue).average().orElse(FAILED);
        }

        private Items json() {
            return Items.of(
                    new Items(costs.stream().<RecordValue>map(Numeric::of).toList()),
                    Numeric.of(error.number()),
                    Numeric.of(allCost),
                    Numeric.of(timestamp));
        }
    }

    public static TuningRecord of(TaskKey task, Config config, Result result) {
        Map<String, RecordValue> document = new LinkedHashMap<>();
        document.put("input", task.json());
        document.put("config", config.json());
        document.put("result", result.json());
        document.put("version", new Numeric(VERSION));
        document.put("tvm_version", new Text(TVM_VERSION));
        return new TuningRecord(new Members(document).text());
    }

    /** The task that was measured. */
    public TaskKey task() {
        return RecordLine.parse(line).task();
    }

    /** The knobs with which it was measured. */
    public Config config() {
        return RecordLine.parse(line).config();
    }

    /** The result of the measurement. */
    public Result result() {
        return RecordLine.parse(line).result();
    }

    /** How a measurement ended: AutoTVM's error numbers. */
    public enum MeasureError {
        NONE(0),
        /** The configuration cannot be lowered. */
        INSTANTIATION(1),
        COMPILE_HOST(2),
        /** The device could not load it. */
        COMPILE_DEVICE(3),
        RUNTIME_DEVICE(4),
        WRONG_ANSWER(5),
        BUILD_TIMEOUT(6),
        RUN_TIMEOUT(7),
        UNKNOWN(8);

        private final int number;

        MeasureError(int number) {
            this.number = number;
        }

        /** The number in records. */
        public int number() {
            return number;
        }

        /** The error that has a number in records; empty for an unknown number. */
        public static Optional<MeasureError> of(long number) {
            return Arrays.stream(values()).filter(e -> e.number() == number).findFirst();
        }
    }

    /**
     * An operator that is tuned, in AutoTVM's terms.
     *
     * @param target target string, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=stm32f405}
     * @param template name of the schedule's template, such as {@code kiln.conv2d.cortex-m4}
     * @param args shapes and parameters of the operator
     */
    public record TaskKey(String target, String template, List<RecordValue> args) {
        public TaskKey {
            args = List.copyOf(args);
        }

        /** Template and arguments as one text, by which records are looked up. */
        public String workload() {
            return new Text(template).text() + ", " + new Items(args).text();
        }

        /** The target's {@code -model}, unless it is unknown. */
        public Optional<String> model() {
            return option("model").filter(model -> !model.equals("unknown"));
        }

        /** The target's {@code -keys}, most specific first. */
        public List<String> keys() {
            return option("keys").map(keys -> List.of(keys.split(","))).orElse(List.of());
        }

        /** The value of an option of the target. The target is not parsed, because logs have targets of all of TVM's code generators. */
        private Optional<String> option(String name) {
            String start = "-" + name + "=";
            return Arrays.stream(target.split("\\s+"))
                    .filter(word -> word.startsWith(start))
                    .map(word -> word.substring(start.length()))
                    .filter(value -> !value.isEmpty())
                    .findFirst();
        }

        Items json() {
            return Items.of(new Text(target), new Text(template), new Items(args), new Members(Map.of()));
        }
    }
}
