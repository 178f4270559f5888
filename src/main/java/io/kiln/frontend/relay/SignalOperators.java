// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.SignalAutoScale;
import io.kiln.ir.op.SignalDelay;
import io.kiln.ir.op.SignalEnergy;
import io.kiln.ir.op.SignalFft;
import io.kiln.ir.op.SignalFrame;
import io.kiln.ir.op.SignalOverlapAdd;
import io.kiln.ir.op.SignalStack;
import io.kiln.ir.op.SignalWindow;
import java.util.Map;
import java.util.function.Function;

/** Signal processing, by names in the text. */
final class SignalOperators {
    private static final int MAX = Integer.MAX_VALUE;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("tfl.signal_window", a -> new SignalWindow(a.integer("shift", 0, Integer.SIZE - 1))),
            Map.entry("tfl.signal_fft_auto_scale", a -> new SignalAutoScale()),
            Map.entry("tfl.signal_rfft", a -> new SignalFft(length(a), false)),
            Map.entry("tfl.signal_irfft", a -> new SignalFft(length(a), true)),
            Map.entry(
                    "tfl.signal_energy",
                    a -> new SignalEnergy(a.integer("start_index", 0, MAX), a.integer("end_index", 0, MAX))),
            Map.entry(
                    "tfl.signal_framer",
                    a -> new SignalFrame(
                            a.integer("frame_size", 1, MAX),
                            a.integer("frame_step", 1, MAX),
                            a.integer("prefill", 0, 1) == 1)),
            Map.entry(
                    "tfl.signal_stacker",
                    a -> new SignalStack(
                            a.integer("left_context", 0, MAX),
                            a.integer("right_context", 0, MAX),
                            a.integer("step", 1, MAX))),
            Map.entry("tfl.signal_delay", a -> new SignalDelay(a.integer("delay_length", 1, MAX))),
            Map.entry("tfl.signal_overlap_add", a -> new SignalOverlapAdd(a.integer("frame_step", 1, MAX))));

    private SignalOperators() {}

    private static int length(Attributes attributes) {
        return attributes.integer("fft_length", SignalFft.SHORTEST, SignalFft.LONGEST);
    }
}
