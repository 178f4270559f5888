// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.microsoft;
import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.BlockWeights;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.stream.Stream;

/** The table of convolutions, matrix products, pools and normalizations. */
public final class OnnxLayerImporters {
    private static final List<OnnxRegistration> OWN = List.of(
            onnx("Conv", new OnnxConvolutionImporter()),
            onnx("ConvTranspose", new OnnxTransposedConvolutionImporter()),
            onnx("Gemm", new GemmImporter()),
            onnx("MatMul", OnnxLayerImporters::matMul),
            onnx("Attention", 23, new AttentionImporter()),
            onnx("RotaryEmbedding", 23, new RotaryEmbeddingImporter(false)),
            microsoft("RotaryEmbedding", new RotaryEmbeddingImporter(true)),
            onnx("RoiAlign", new RoiAlignImporter()),
            onnx("Softmax", new OnnxSoftmaxImporter(false)),
            onnx("LogSoftmax", new OnnxSoftmaxImporter(true)));

    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = Stream.of(
                    OWN, OnnxPools.ALL, OnnxNormalizations.ALL, ResponseImporters.ALL, LossImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private OnnxLayerImporters() {}

    private static void matMul(NodeContext node) {
        node.require(
                node.element(0).isFloat(), "its elements are " + node.element(0).text(), "floats");
        Shape data = node.shape(0);
        node.finish(BlockWeights.of(node, 1, 1)
                .filter(weights -> data.rank() > 0 && data.elements() > 0 && data.dim(-1) == weights.depth())
                .map(weights -> weights.product(node, node.arg(0)))
                .orElseGet(() -> new Expressions(node).product(node.arg(0), node.arg(1))));
    }
}
