// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.TflDynamicUpdateSlice;
import io.kiln.ir.op.reduce.TflCumsum;
import java.util.Map;

/** Operators of attention, and sums over sequences. */
final class SequenceRules {
    private static final int MAX_AXIS = 7;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("tfl.batch_matmul", Rule.of(a -> new TflBatchMatmul(flag(a, "transpose_a"), flag(a, "transpose_b")))),
            entry("tfl.cumsum", Rule.of(SequenceRules::cumsum)),
            entry("tfl.dynamic_update_slice", Rule.of(a -> new TflDynamicUpdateSlice())));

    private SequenceRules() {}

    private static Op cumsum(Attributes a) {
        return new TflCumsum(a.integer("axis", 0, MAX_AXIS), flag(a, "exclusive"), flag(a, "reverse"));
    }

    private static boolean flag(Attributes a, String name) {
        return a.integer(name, 0, 1, 0) == 1;
    }
}
