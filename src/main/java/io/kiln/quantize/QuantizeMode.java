// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.quantize.plan.Precision;
import java.util.Locale;

/** What a model is turned into. */
public enum QuantizeMode {
    /** The model stays as it is. */
    NONE,
    /** Activations and weights of int8. */
    INT8,
    /** Activations of int16, weights of int8. */
    INT16X8,
    /** Int8, with int16 or float for the layers that need it. */
    AUTO;

    /** The parameter's value. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    Precision precision() {
        return this == INT16X8 ? Precision.INT16 : Precision.INT8;
    }
}
