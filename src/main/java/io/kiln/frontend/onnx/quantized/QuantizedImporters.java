// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.operator.Registration;
import java.util.List;

/** The table of operators on quantized tensors. */
public final class QuantizedImporters {
    /** All operators of the family. */
    public static final List<Registration> ALL = List.of(
            onnx("QuantizeLinear", 10, new QuantizeImporter()), onnx("DequantizeLinear", 10, new DequantizeImporter()));

    private QuantizedImporters() {}
}
