// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.Optional;

/**
 * A layer whose sums are rescaled once its result's quantization is known.
 *
 * @param importer of the float layer
 * @param node the layer
 * @param form its operands
 */
record DeferredSum(OnnxImporter importer, NodeContext node, SumForm form) implements Deferred {
    /** {@code MatMul} and the {@code Add} of a constant for each column: PyTorch's export of a fully connected layer. */
    static Optional<DeferredSum> ofSum(NodeContext add) {
        if (!add.node().operator().equals("Add") || add.inputs() != 2) {
            return Optional.empty();
        }
        return withBias(add, 0, 1).or(() -> withBias(add, 1, 0));
    }

    private static Optional<DeferredSum> withBias(NodeContext add, int sums, int bias) {
        Shape shape = add.shape(sums);
        return add.input(sums)
                .form()
                .filter(DeferredSum.class::isInstance)
                .map(DeferredSum.class::cast)
                .filter(sum -> sum.isMatrixWithoutBias()
                        && shape.rank() >= 2
                        && add.shape(bias).rank() <= shape.rank())
                .flatMap(sum -> LayerBias.reals(add, bias, shape.dim(-1), 1)
                        .map(b -> new DeferredSum(
                                sum.importer,
                                sum.node,
                                new SumForm(sum.form.data(), sum.form.weight(), Optional.of(b)))));
    }

    private boolean isMatrixWithoutBias() {
        return node.node().operator().equals("MatMul")
                && form.bias().isEmpty()
                && node.shape(1).rank() >= 2;
    }

    @Override
    public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
        return form.emit(importer, node, to, limits);
    }

    /** Of data of 16 bits. */
    @Override
    public boolean canBeWide() {
        return form.isWide();
    }
}
