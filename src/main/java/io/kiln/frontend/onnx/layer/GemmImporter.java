// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.BlockWeights;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import java.util.List;

/** {@code alpha * A * B + beta * C}, with A and B transposed on request, and C broadcast. */
final class GemmImporter implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        for (int i = 0; i < 2; i++) {
            node.require(
                    node.shape(i).rank() == 2,
                    "its input " + i + " is " + node.shape(i).text(),
                    "a matrix");
        }
        node.require(
                node.element(0).isFloat(), "its elements are " + node.element(0).text(), "floats");
        Arg a = node.attributes().truth("transA", false) ? e.transpose(node.arg(0), List.of(1, 0)) : node.arg(0);
        boolean isTransposed = node.attributes().truth("transB", false);
        float alpha = node.attributes().real("alpha", 1);
        Shape data = e.shape(a);
        Arg product = BlockWeights.of(node, 1, isTransposed ? 0 : 1)
                .filter(weights -> alpha == 1 && data.elements() > 0 && data.dim(1) == weights.depth())
                .map(weights -> weights.product(node, a))
                .orElseGet(() -> dense(node, a, isTransposed, alpha));
        node.finish(node.has(2) ? sum(e, node, product) : product);
    }

    private static Arg dense(NodeContext node, Arg a, boolean isTransposed, float alpha) {
        Expressions e = new Expressions(node);
        Arg b = isTransposed ? node.arg(1) : e.transpose(node.arg(1), List.of(1, 0));
        if (alpha != 1) {
            b = e.multiply(b, alpha);
        }
        return node.emit(new Dense(e.shape(b).dim(0)), a, b);
    }

    private static Arg sum(Expressions e, NodeContext node, Arg product) {
        float beta = node.attributes().real("beta", 1);
        Arg bias = beta == 1 ? node.arg(2) : e.multiply(node.arg(2), e.number(beta, DType.FLOAT32));
        Shape shape = e.shape(bias);
        int units = e.shape(product).dim(1);
        boolean isVector = shape.rank() > 0 && shape.elements() == units && shape.dim(-1) == units;
        return isVector ? node.emit(new BiasAdd(-1), product, e.reshape(bias, List.of(units))) : e.add(product, bias);
    }
}
