// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.operator.Registration.microsoft;
import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.layer.LayerImporters;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.Registration;
import java.util.List;

/** The table of operators on quantized tensors. */
public final class QuantizedImporters {
    /** All operators of the family. */
    public static final List<Registration> ALL = List.of(
            onnx("QuantizeLinear", 10, new QuantizeImporter()),
            onnx("DequantizeLinear", 10, new DequantizeImporter()),
            onnx("QLinearConv", 10, new QLinearLayer(layer("Conv"))),
            onnx("QLinearMatMul", 10, new QLinearLayer(layer("MatMul"))),
            microsoft("QLinearAdd", QLinearImporters.ADD),
            microsoft("QLinearMul", QLinearImporters.MULTIPLY));

    private QuantizedImporters() {}

    private static OnnxImporter layer(String name) {
        return LayerImporters.ALL.stream()
                .filter(layer -> layer.key().equals(name))
                .findFirst()
                .orElseThrow()
                .importer();
    }
}
