// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.FilterBankAccumulate;
import io.kiln.ir.op.FilterBankGainControl;
import io.kiln.ir.op.FilterBankLog;
import io.kiln.ir.op.FilterBankSpectralSubtraction;
import io.kiln.ir.op.FilterBankSquareRoot;
import io.kiln.ir.op.Op;
import java.util.Map;
import java.util.function.Function;

/** Operators on the channels of a filter bank, by names in the text. */
final class FilterBankOperators {
    private static final int MAX = Integer.MAX_VALUE;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("tfl.signal_filter_bank", a -> new FilterBankAccumulate(a.integer("num_channels", 1, MAX - 1))),
            Map.entry("tfl.signal_filter_bank_square_root", a -> new FilterBankSquareRoot()),
            Map.entry(
                    "tfl.signal_filter_bank_spectral_subtraction",
                    a -> new FilterBankSpectralSubtraction(
                            a.integer("smoothing", 0, MAX),
                            a.integer("one_minus_smoothing", 0, MAX),
                            a.integer("alternate_smoothing", 0, MAX),
                            a.integer("alternate_one_minus_smoothing", 0, MAX),
                            a.integer("smoothing_bits", 0, Integer.SIZE - 1),
                            a.integer("min_signal_remaining", 0, MAX),
                            a.integer("clamping", 0, 1) == 1,
                            a.integer("spectral_subtraction_bits", 0, Long.SIZE - 1))),
            Map.entry("tfl.signal_pcan", a -> new FilterBankGainControl(a.integer("snr_shift", 0, Long.SIZE - 1))),
            Map.entry(
                    "tfl.signal_filter_bank_log",
                    a -> new FilterBankLog(
                            a.integer("output_scale", 1, MAX),
                            a.integer("input_correction_bits", 0, Integer.SIZE - 1))));

    private FilterBankOperators() {}
}
