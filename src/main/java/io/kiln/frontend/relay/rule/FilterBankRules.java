// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.FilterBankAccumulate;
import io.kiln.ir.op.signal.FilterBankGainControl;
import io.kiln.ir.op.signal.FilterBankLog;
import io.kiln.ir.op.signal.FilterBankSpectralSubtraction;
import io.kiln.ir.op.signal.FilterBankSquareRoot;
import java.util.Map;

/** Operators on the channels of a filter bank. */
final class FilterBankRules {
    private static final int MAX = Integer.MAX_VALUE;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry(
                    "tfl.signal_filter_bank",
                    Rule.of(a -> new FilterBankAccumulate(a.integer("num_channels", 1, MAX - 1)))),
            entry("tfl.signal_filter_bank_square_root", Rule.of(a -> new FilterBankSquareRoot())),
            entry("tfl.signal_filter_bank_spectral_subtraction", Rule.of(FilterBankRules::spectralSubtraction)),
            entry("tfl.signal_pcan", Rule.of(a -> new FilterBankGainControl(a.integer("snr_shift", 0, Long.SIZE - 1)))),
            entry("tfl.signal_filter_bank_log", Rule.of(FilterBankRules::log)));

    private FilterBankRules() {}

    private static Op spectralSubtraction(Attributes a) {
        return new FilterBankSpectralSubtraction(
                a.integer("smoothing", 0, MAX),
                a.integer("one_minus_smoothing", 0, MAX),
                a.integer("alternate_smoothing", 0, MAX),
                a.integer("alternate_one_minus_smoothing", 0, MAX),
                a.integer("smoothing_bits", 0, Integer.SIZE - 1),
                a.integer("min_signal_remaining", 0, MAX),
                a.integer("clamping", 0, 1) == 1,
                a.integer("spectral_subtraction_bits", 0, Long.SIZE - 1));
    }

    private static Op log(Attributes a) {
        return new FilterBankLog(
                a.integer("output_scale", 1, MAX), a.integer("input_correction_bits", 0, Integer.SIZE - 1));
    }
}
