// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.tflite.SupportedOperators.Support;
import java.util.Map;

/** Custom operators of TensorFlow Lite Micro's library of signal processing, by their codes. */
final class SignalOperators {
    static final Map<String, Support> ALL = Map.ofEntries(
            entry("SignalWindow", SignalImporters::window),
            entry("SignalFftAutoScale", SignalImporters::autoScale),
            entry("SignalRfft", SignalImporters.fft(false)),
            entry("SignalIrfft", SignalImporters.fft(true)),
            entry("SignalEnergy", SignalImporters::energy),
            entry("SignalFramer", SignalImporters::frame),
            entry("SignalStacker", SignalImporters::stack),
            entry("SignalDelay", SignalImporters::delay),
            entry("SignalOverlapAdd", SignalImporters::overlapAdd));

    private SignalOperators() {}

    private static Map.Entry<String, Support> entry(String code, OperatorImporter importer) {
        return Map.entry(code, new Support(importer, 1));
    }
}
