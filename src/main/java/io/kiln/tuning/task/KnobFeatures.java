// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a model of the cost sees of a configuration: whether it has each of a layer's schedules, and the number of each other knob; -1 for a knob
 * that is not set, the position of a value that is not a number.
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
