// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.TflBatchMatmul;
import io.kiln.ir.op.TflCumsum;
import io.kiln.ir.op.TflDynamicUpdateSlice;
import java.util.Map;
import java.util.function.Function;

/** What attention and sums over sequences need, by names in the text. */
final class SequenceOperators {
    private static final int MAX_AXIS = 7;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("tfl.batch_matmul", a -> new TflBatchMatmul(flag(a, "transpose_a"), flag(a, "transpose_b"))),
            Map.entry(
                    "tfl.cumsum",
                    a -> new TflCumsum(a.integer("axis", 0, MAX_AXIS), flag(a, "exclusive"), flag(a, "reverse"))),
            Map.entry("tfl.dynamic_update_slice", a -> new TflDynamicUpdateSlice()));

    private SequenceOperators() {}

    private static boolean flag(Attributes a, String name) {
        return a.integer(name, 0, 1, 0) == 1;
    }
}
