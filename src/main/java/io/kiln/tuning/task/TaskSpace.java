// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.schedule.LayerSchedules;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Configuration.Setting;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Flag;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * All configurations of a layer, over all schedules that apply to it, as points of one space of AutoTVM's kind: the knob {@code schedule},
 * then the knobs of all schedules by their names, {@code null} for a knob that is not set. An index is a number in mixed radix whose first
 * knob changes fastest. Combinations that are not configurations are holes of the space.
 */
public final class TaskSpace {
    private static final String SCHEDULE = KnobFeatures.SCHEDULE;

    private final Map<String, List<RecordValue>> knobs;
    private final List<Configuration> configurations;
    private final Map<Map<String, RecordValue>, Configuration> byKnobs = new LinkedHashMap<>();

    private TaskSpace(Map<String, List<RecordValue>> knobs, List<Configuration> configurations) {
        this.knobs = knobs;
        this.configurations = List.copyOf(configurations);
        configurations.forEach(configuration -> byKnobs.put(values(configuration), configuration));
    }

    /** The space of a layer on its core. */
    public static TaskSpace of(Workload workload) {
        return of(LayerSchedules.spaces(workload));
    }

    static TaskSpace of(List<Space> spaces) {
        Map<String, Set<RecordValue>> knobs = new LinkedHashMap<>();
        knobs.put(
                SCHEDULE,
                spaces.stream()
                        .map(space -> new Text(space.schedule()))
                        .collect(Collectors.toCollection(LinkedHashSet::new)));
        for (Space space : spaces) {
            for (Knob knob : space.knobs()) {
                Set<RecordValue> values = knobs.computeIfAbsent(knob.name(), name -> new LinkedHashSet<>());
                knob.values().forEach(value -> values.add(value(value)));
            }
        }
        Map<String, List<RecordValue>> all = new LinkedHashMap<>();
        knobs.forEach((name, values) -> {
            boolean isEverywhere = name.equals(SCHEDULE)
                    || spaces.stream()
                            .allMatch(space -> space.knobs().stream()
                                    .anyMatch(knob -> knob.name().equals(name)));
            Set<RecordValue> candidates = new LinkedHashSet<>();
            if (!isEverywhere) {
                candidates.add(RecordValue.NOTHING);
            }
            candidates.addAll(values);
            all.put(name, List.copyOf(candidates));
        });
        return new TaskSpace(
                all,
                spaces.stream()
                        .flatMap(space -> space.configurations().stream())
                        .toList());
    }

    /** The configurations, without holes, schedule by schedule. */
    public List<Configuration> configurations() {
        return configurations;
    }

    /** Number of values of each knob. */
    public List<Integer> dimensions() {
        return knobs.values().stream().map(List::size).toList();
    }

    /** Number of points, holes included. */
    public long range() {
        return dimensions().stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
    }

    /** The position of a configuration's value among those of each knob. */
    public int[] point(Configuration configuration) {
        Map<String, RecordValue> values = values(configuration);
        return knobs.entrySet().stream()
                .mapToInt(knob -> knob.getValue().indexOf(values.get(knob.getKey())))
                .toArray();
    }

    /** The configuration as a record has it. */
    public Config config(Configuration configuration) {
        int[] point = point(configuration);
        long index = 0;
        List<Integer> dimensions = dimensions();
        for (int i = point.length - 1; i >= 0; i--) {
            index = index * dimensions.get(i) + point[i];
        }
        List<Entity> entities = new ArrayList<>();
        values(configuration).forEach((name, value) -> entities.add(Entity.other(name, value)));
        return new Config(index, entities);
    }

    /** The features of a configuration, of this space or of another shape's, as {@link KnobFeatures} has them. */
    public double[] features(Config config) {
        return new KnobFeatures(knobs).of(config);
    }

    /**
     * The configuration of a record's knobs; its index is not used, because it changes when a schedule gets another knob. Knobs that the
     * record does not name are not set.
     *
     * @return empty if it is not in this space
     */
    public Optional<Configuration> find(Config config) {
        Map<String, RecordValue> values = new LinkedHashMap<>();
        knobs.keySet().forEach(name -> values.put(name, RecordValue.NOTHING));
        Set<String> unknown = new HashSet<>();
        for (Entity entity : config.entities()) {
            if (knobs.containsKey(entity.name())) {
                values.put(entity.name(), entity.value());
            } else if (!entity.value().equals(RecordValue.NOTHING)) {
                unknown.add(entity.name());
            }
        }
        return unknown.isEmpty() ? Optional.ofNullable(byKnobs.get(values)) : Optional.empty();
    }

    private Map<String, RecordValue> values(Configuration configuration) {
        Map<String, RecordValue> values = new LinkedHashMap<>();
        knobs.keySet().forEach(name -> values.put(name, RecordValue.NOTHING));
        values.put(SCHEDULE, new Text(configuration.schedule()));
        for (Setting setting : configuration.settings()) {
            values.put(setting.knob(), value(Optional.of(setting.value())));
        }
        return values;
    }

    /** The value of a knob in a record: digits become a number, a flag that is set becomes true, any other text stays one. */
    private static RecordValue value(Optional<String> text) {
        if (text.isEmpty()) {
            return RecordValue.NOTHING;
        }
        String value = text.get();
        if (value.isEmpty()) {
            return new Flag(true);
        }
        return value.chars().allMatch(c -> c >= '0' && c <= '9') ? new Numeric(value) : new Text(value);
    }

    /**
     * Turns configurations into features for a model of the cost: 0 or 1 for each of the layer's schedules, and the number of each other knob; -1
     * for a knob that is not set, the position of a value that is not a number.
     *
     * @param knobs the values of each knob of the layer's space
     */
    public record KnobFeatures(Map<String, List<RecordValue>> knobs) {
        /** The knob that names a schedule. */
        static final String SCHEDULE = "schedule";

        public KnobFeatures {
            knobs = new LinkedHashMap<>(knobs);
        }

        /** The features of a configuration, of the layer or of another one; knobs that the layer does not have are left out. */
        public double[] of(Config config) {
            Map<String, RecordValue> values = new LinkedHashMap<>();
            for (Entity entity : config.entities()) {
                values.put(entity.name(), entity.value());
            }
            List<Double> features = new ArrayList<>();
            knobs.forEach((name, candidates) -> {
                RecordValue value = values.getOrDefault(name, RecordValue.NOTHING);
                if (name.equals(SCHEDULE)) {
                    candidates.forEach(schedule -> features.add(schedule.equals(value) ? 1.0 : 0.0));
                } else if (value instanceof Numeric number) {
                    features.add(number.real());
                } else {
                    features.add(value.equals(RecordValue.NOTHING) ? -1.0 : (double) candidates.indexOf(value));
                }
            });
            return features.stream().mapToDouble(Double::doubleValue).toArray();
        }
    }
}
