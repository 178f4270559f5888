// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.SignalAutoScale;
import io.kiln.ir.op.signal.SignalDelay;
import io.kiln.ir.op.signal.SignalEnergy;
import io.kiln.ir.op.signal.SignalFft;
import io.kiln.ir.op.signal.SignalFrame;
import io.kiln.ir.op.signal.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalStack;
import io.kiln.ir.op.signal.SignalWindow;
import java.util.Map;

/** Signal processing. */
final class SignalRules {
    private static final int MAX = Integer.MAX_VALUE;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("tfl.signal_window", Rule.of(a -> new SignalWindow(a.integer("shift", 0, Integer.SIZE - 1)))),
            entry("tfl.signal_fft_auto_scale", Rule.of(a -> new SignalAutoScale())),
            entry("tfl.signal_rfft", Rule.of(a -> new SignalFft(length(a), false))),
            entry("tfl.signal_irfft", Rule.of(a -> new SignalFft(length(a), true))),
            entry("tfl.signal_energy", Rule.of(SignalRules::energy)),
            entry("tfl.signal_framer", Rule.of(SignalRules::frame)),
            entry("tfl.signal_stacker", Rule.of(SignalRules::stack)),
            entry("tfl.signal_delay", Rule.of(a -> new SignalDelay(a.integer("delay_length", 1, MAX)))),
            entry("tfl.signal_overlap_add", Rule.of(a -> new SignalOverlapAdd(a.integer("frame_step", 1, MAX)))));

    private SignalRules() {}

    private static Op energy(Attributes a) {
        return new SignalEnergy(a.integer("start_index", 0, MAX), a.integer("end_index", 0, MAX));
    }

    private static Op frame(Attributes a) {
        return new SignalFrame(
                a.integer("frame_size", 1, MAX), a.integer("frame_step", 1, MAX), a.integer("prefill", 0, 1) == 1);
    }

    private static Op stack(Attributes a) {
        return new SignalStack(
                a.integer("left_context", 0, MAX), a.integer("right_context", 0, MAX), a.integer("step", 1, MAX));
    }

    private static int length(Attributes attributes) {
        return attributes.integer("fft_length", SignalFft.SHORTEST, SignalFft.LONGEST);
    }
}
