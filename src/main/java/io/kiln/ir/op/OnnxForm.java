// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** The ONNX Runtime kernel whose results an operator on bytes reproduces. The kernels differ in how a result becomes a byte. */
public enum OnnxForm {
    /** The operator on floats, between DequantizeLinear and QuantizeLinear. */
    QDQ,
    /** The operator of the domain com.microsoft on uint8, whose bytes are held as int8, less 128. */
    UINT8,
    /** The same on int8. */
    INT8;

    /** The spelling in Relay text. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The attribute {@code form} of an operator. */
    public static <O> Attribute<O, OnnxForm> attribute(Function<O, OnnxForm> get) {
        return Attribute.choice("form", get, OnnxForm::text, List.of(values()));
    }

    /** A byte of the model minus the int8 that holds it. */
    public int offset() {
        return this == UINT8 ? -Byte.MIN_VALUE : 0;
    }
}
