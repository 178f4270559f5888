// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.DType;
import java.util.Locale;

/** The arithmetic of an operator. */
public enum Precision {
    /** Activations of int8, weights of int8, sums of int32. */
    INT8(DType.INT8, DType.INT32),
    /** Activations of int16, weights of int8, sums of int64. */
    INT16(DType.INT16, DType.INT64),
    /** Single precision throughout. */
    FLOAT(DType.FLOAT32, DType.FLOAT32);

    private final DType activation;
    private final DType bias;

    Precision(DType activation, DType bias) {
        this.activation = activation;
        this.bias = bias;
    }

    /** Element type of activations. */
    public DType activation() {
        return activation;
    }

    /** Element type of biases. */
    public DType bias() {
        return bias;
    }

    /** Its name in reports. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
