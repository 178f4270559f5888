// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.TflBatchMatmul;
import java.util.Map;
import java.util.function.Function;

/** What attention over sequences needs, by names in the text. */
final class SequenceOperators {
    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(Map.entry(
            "tfl.batch_matmul",
            a -> new TflBatchMatmul(a.integer("transpose_a", 0, 1, 0) == 1, a.integer("transpose_b", 0, 1, 0) == 1)));

    private SequenceOperators() {}
}
