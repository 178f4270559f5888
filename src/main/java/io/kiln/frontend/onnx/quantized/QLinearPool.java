// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/**
 * {@code QLinearAveragePool} and {@code QLinearGlobalAveragePool} of ONNX Runtime (contrib_ops/cpu/quantization): X, its scale and zero
 * point, those of the result. The mean of a whole image is a rescaled sum of integers; that of a smaller window is one of floats, whose
 * zero point is added before rounding.
 *
 * @param operator name of the operator on floats
 * @param importer its importer
 */
record QLinearPool(String operator, OnnxImporter importer) implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        node.require(
                !node.attributes().truth("channels_last", false),
                "its channels are the last dimension",
                "channels_last 0");
        ElementType type = node.element(0);
        ElementQuantization to = Parameters.readOne(node, 3, 4, type);
        Dequantized data = QLinearFunction.data(node);
        NodeContext mean = QLinearFunction.onFloats(node, operator, data);
        OnnxForm kind = type == ElementType.UINT8 ? OnnxForm.UINT8 : OnnxForm.INT8;
        MeanForm form = new MeanForm(data, to, Limits.NONE, isWhole(node), kind);
        Arg bytes = form.emit(importer, mean)
                .orElseThrow(() -> node.failure(
                        "its scales are " + data.by().scale() + " and " + to.scale(), SingleFactor.ordinaryText()));
        node.finish(0, QuantizedBytes.value(node, bytes, type));
    }

    /** Whether a window is a whole image. */
    private static boolean isWhole(NodeContext node) {
        Shape shape = node.shape(0);
        Optional<List<Long>> kernel = node.attributes().wholes("kernel_shape");
        boolean isPadded =
                node.attributes().wholes("pads").orElse(List.of()).stream().anyMatch(p -> p != 0);
        return kernel.isEmpty()
                || (!isPadded
                        && kernel.get()
                                .equals(shape.dims().subList(2, shape.rank()).stream()
                                        .map(Long::valueOf)
                                        .toList()));
    }
}
