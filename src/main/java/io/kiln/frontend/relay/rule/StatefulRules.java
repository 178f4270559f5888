// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CircularBuffer;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Lstm.Arithmetic;
import io.kiln.ir.op.layer.Svdf;
import java.util.Map;

/** Variables, and layers that keep state. */
final class StatefulRules {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("ref_write", Rule.of(a -> new RefWrite())),
            entry("tfl.circular_buffer", Rule.of(a -> new CircularBuffer(a.integer("cycles_max", 1, MAX)))),
            entry("tfl.svdf", Rule.of(StatefulRules::svdf)),
            entry("tfl.unidirectional_sequence_lstm", Rule.of(StatefulRules::lstm)));

    private StatefulRules() {}

    private static Op svdf(Attributes a) {
        a.choice("rounding", "TFLITE");
        return new Svdf(
                a.integer("rank", 1, MAX),
                a.integer("input_zero_point", MIN, MAX),
                a.integer("state_zero_point", MIN, MAX),
                a.integer("output_zero_point", MIN, MAX));
    }

    private static Op lstm(Attributes a) {
        String rounding = a.choice("rounding", Arithmetic.MICRO.rounding(), Arithmetic.LIBRARY.rounding());
        Lstm lstm = new Lstm(
                a.choice("layout", "NTC", "TNC").equals("TNC"),
                a.integer("input_zero_point", MIN, MAX),
                a.integer("hidden_zero_point", MIN, MAX),
                a.integer("tanh_multiplier", 1, Short.MAX_VALUE),
                a.integer("tanh_shift", 0, Integer.SIZE - 1),
                (float) a.real("cell_clip"));
        return rounding.equals(Arithmetic.LIBRARY.rounding()) ? lstm.in(Arithmetic.LIBRARY) : lstm;
    }
}
