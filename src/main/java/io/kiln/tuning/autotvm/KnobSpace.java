// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.autotvm;

import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.TuningRecord.Entity;
import java.util.List;

/**
 * A knob of one of AutoTVM's kinds.
 *
 * @param name its name
 * @param kind as in records: {@code sp}, {@code re}, {@code an} or {@code ot}
 * @param values its values in AutoTVM's order
 */
public record KnobSpace(String name, String kind, List<RecordValue> values) {
    public KnobSpace {
        values = List.copyOf(values);
    }

    /** A knob with any values, as {@code define_knob}. */
    public static KnobSpace ofValues(String name, List<RecordValue> values) {
        return new KnobSpace(name, "ot", values);
    }

    /** The value at a position as records have it. */
    Entity entity(int position) {
        return new Entity(name, kind, values.get(position));
    }
}
