// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.operator.Registration.microsoft;
import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.elementwise.ElementwiseImporters;
import io.kiln.frontend.onnx.layer.LayerImporters;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.Registration;
import java.util.List;
import java.util.stream.Stream;

/** The table of operators on quantized tensors. */
public final class QuantizedImporters {
    /** All operators of the family. */
    public static final List<Registration> ALL = List.of(
            onnx("QuantizeLinear", 10, new QuantizeImporter()),
            onnx("DequantizeLinear", 10, new DequantizeImporter()),
            onnx("QLinearConv", 10, new QLinearLayer(importer("Conv"))),
            onnx("QLinearMatMul", 10, new QLinearLayer(importer("MatMul"))),
            microsoft("QLinearAdd", QLinearImporters.ADD),
            microsoft("QLinearMul", QLinearImporters.MULTIPLY),
            microsoft("QLinearAveragePool", new QLinearPool("AveragePool", importer("AveragePool"))),
            microsoft("QLinearGlobalAveragePool", new QLinearPool("GlobalAveragePool", importer("GlobalAveragePool"))),
            microsoft("QLinearSigmoid", function("Sigmoid")),
            microsoft("QLinearLeakyRelu", function("LeakyRelu")),
            microsoft("QLinearSoftmax", new QLinearSoftmax()));

    private QuantizedImporters() {}

    private static OnnxImporter function(String operator) {
        return new QLinearFunction(operator, importer(operator));
    }

    private static OnnxImporter importer(String name) {
        return Stream.of(LayerImporters.ALL, ElementwiseImporters.ALL)
                .flatMap(List::stream)
                .filter(operator -> operator.key().equals(name))
                .findFirst()
                .orElseThrow()
                .importer();
    }
}
