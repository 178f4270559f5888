// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.tflite.SupportedOperators.Support;
import java.util.Map;

/** Custom operators of TensorFlow Lite Micro's library of signal processing, by their codes. */
final class SignalOperators {
    static final Map<String, Support> ALL = Map.ofEntries();

    private SignalOperators() {}
}
