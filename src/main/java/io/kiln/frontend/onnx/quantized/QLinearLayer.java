// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A layer that states its scales: {@code QLinearConv} (x, its scale and zero point, w and its, those of the result, bias) and {@code
 * QLinearMatMul} (the same without bias). The importer of the float layer emits it, see {@link SumForm}.
 *
 * @param layer importer of the float layer
 */
record QLinearLayer(OnnxImporter layer) implements OnnxImporter {
    private static final int WEIGHT = 3;
    private static final int RESULT_SCALE = 6;
    private static final int BIAS = 8;

    @Override
    public void emit(NodeContext node) {
        ElementQuantization data = Parameters.readOne(node, 1, 2, node.element(0));
        ElementQuantization weight = Parameters.read(node, 4, 5, 0, node.element(WEIGHT));
        ElementQuantization to =
                Parameters.readOne(node, RESULT_SCALE, RESULT_SCALE + 1, node.element(RESULT_SCALE + 1));
        Arg weights = QuantizedBytes.of(node, node.input(WEIGHT));
        node.require(
                weights instanceof Constant && weight.isOfBytes() && weight.hasOneZeroPoint(),
                "its weights are computed or have several zero points",
                "constant bytes with one zero point");
        Optional<Dequantized> bias = node.optional(BIAS)
                .map(b -> new Dequantized(
                        b.arg(),
                        new ElementQuantization(List.of(1f), Collections.nCopies(1, 0), 0, ElementType.INT32)));
        SumForm form = new SumForm(
                new Dequantized(QuantizedBytes.of(node, node.input(0)), data), new Dequantized(weights, weight), bias);
        Arg bytes = form.emit(layer, node.as(node.node().operator(), List.of(0, WEIGHT, BIAS)), to, Limits.NONE)
                .orElseThrow(() -> node.failure("its layer has no integer form", "a layer over images or vectors"));
        node.finish(0, QuantizedBytes.value(node, bytes, to.type()));
    }
}
