// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnRequantize;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A layer that states its scales: {@code QLinearConv} (x, its scale and zero point, w and its, those of the result, bias), {@code
 * QLinearMatMul} (the same without bias), and {@code QGemm} of ONNX Runtime (with the bias before the result's). The importer of the
 * float layer emits it, see {@link SumForm}. QGemm's alpha is a factor of the first scale, in single precision (core/providers/cpu
 * of ONNX Runtime, contrib_ops/cpu/quantization/quant_gemm.cc).
 *
 * @param layer importer of the float layer
 * @param bias index of the input with the bias
 * @param result index of the input with the result's scale
 */
record QLinearLayer(OnnxImporter layer, int bias, int result) implements OnnxImporter {
    private static final int WEIGHT = 3;

    /** QLinearConv or QLinearMatMul. */
    static QLinearLayer of(OnnxImporter layer) {
        return new QLinearLayer(layer, 8, 6);
    }

    /** QGemm. */
    static QLinearLayer gemm(OnnxImporter gemm) {
        return new QLinearLayer(gemm, 6, 7);
    }

    @Override
    public void emit(NodeContext node) {
        node.require(node.has(result), "its result is not quantized", "a scale of the result");
        ElementQuantization data = Parameters.readOne(node, 1, 2, node.element(0))
                .scaled(node.attributes().real("alpha", 1));
        ElementQuantization weight = Parameters.read(node, 4, 5, 0, node.element(WEIGHT));
        ElementQuantization to =
                Parameters.readOne(node, result, result + 1, node.element(node.has(result + 1) ? result + 1 : 0));
        Arg weights = QuantizedBytes.of(node, node.input(WEIGHT));
        if (weights instanceof Constant && weight.isOfBytes() && !weight.hasOneZeroPoint()) {
            node.finish(0, QuantizedBytes.value(node, corrected(node, data, weight, to), to.type()));
            return;
        }
        boolean isMatrix = !node.node().operator().equals("QLinearConv") && weight.isPerTensor();
        node.require(
                (weights instanceof Constant || isMatrix) && weight.isOfBytes() && weight.hasOneZeroPoint(),
                "its weights are computed, or are " + weight.type().text(),
                "constant bytes, or a computed matrix with one scale and zero point");
        Optional<SumForm.Bias> words = node.optional(bias).map(b -> new SumForm.Bias.Words(b.arg()));
        SumForm form = new SumForm(
                new Dequantized(QuantizedBytes.of(node, node.input(0)), data), new Dequantized(weights, weight), words);
        Arg bytes = form.emit(
                        layer,
                        node.as(node.node().operator(), List.of(0, WEIGHT, bias))
                                .without("alpha"),
                        to,
                        Limits.NONE)
                .orElseThrow(() -> node.failure("its layer has no integer form", "a layer over images or vectors"));
        node.finish(0, QuantizedBytes.value(node, bytes, to.type()));
    }

    /** The bytes of a layer whose channels have zero points of their own: sums first, which are rescaled as of any layer. */
    private Arg corrected(
            NodeContext node, ElementQuantization data, ElementQuantization weight, ElementQuantization to) {
        String name = node.node().operator();
        node.require(!name.equals("QGemm"), "its weights have several zero points", "one zero point");
        boolean isFilter = name.equals("QLinearConv");
        IntegerProduct product = new IntegerProduct(isFilter ? "Conv" : "MatMul", layer);
        Expressions e = new Expressions(node);
        Arg sums = product.sums(node.as(isFilter ? "ConvInteger" : "MatMulInteger", List.of(0, WEIGHT, 2, 5)));
        int rank = e.shape(sums).rank();
        List<Integer> last = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
        List<Integer> back = new ArrayList<>(last);
        if (isFilter) {
            last.add(last.remove(1));
            back.add(1, back.remove(rank - 1));
        }
        Arg channelsLast = e.transpose(sums, last);
        float[] scales = new float[weight.scales().size()];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = data.scale() * weight.scales().get(i);
        }
        Arg bytes = node.emit(
                new QnnRequantize(-1, Rounding.ONNX, DType.INT8),
                node.has(bias) ? e.add(channelsLast, node.arg(bias)) : channelsLast,
                Constant.vector(scales),
                Constant.scalar(0),
                Constant.scalar(to.scale()),
                Constant.scalar(to.zeroPoint()));
        return e.transpose(bytes, back);
    }
}
