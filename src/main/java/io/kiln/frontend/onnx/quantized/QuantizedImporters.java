// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.microsoft;
import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters;
import io.kiln.frontend.onnx.layer.OnnxLayerImporters;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import java.util.List;
import java.util.stream.Stream;

/** The table of operators on quantized tensors. */
public final class QuantizedImporters {
    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = List.of(
            onnx("QuantizeLinear", 10, new QuantizeLinearImporter()),
            onnx("DequantizeLinear", 10, new DequantizeLinearImporter()),
            onnx("DynamicQuantizeLinear", new DynamicQuantizeLinear()),
            onnx("ConvInteger", new IntegerProduct("Conv", importer("Conv"))),
            onnx("MatMulInteger", new IntegerProduct("MatMul", importer("MatMul"))),
            onnx("QLinearConv", 10, QLinearLayer.of(importer("Conv"))),
            onnx("QLinearMatMul", 10, QLinearLayer.of(importer("MatMul"))),
            microsoft("QuantizeLinear", new QuantizeLinearImporter()),
            microsoft("DequantizeLinear", new DequantizeLinearImporter()),
            microsoft("MatMulNBits", new MatMulNBitsImporter()),
            microsoft("QGemm", QLinearLayer.gemm(importer("Gemm"))),
            microsoft("QLinearConcat", new QLinearConcat()),
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

    /** The importer of an operator on floats. */
    static OnnxImporter importer(String name) {
        return Stream.of(OnnxLayerImporters.ALL, OnnxElementwiseImporters.ALL)
                .flatMap(List::stream)
                .filter(operator -> operator.key().equals(name))
                .findFirst()
                .orElseThrow()
                .importer();
    }
}
