// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.type.Shape;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Integer weights of a fully connected layer with a scale and a zero point for each block of a row.
 *
 * @param weights int8, (units, inputs)
 * @param scales float32, (units, blocks)
 * @param zeroPoints float32, (units, blocks)
 * @param block weights of a block, at most as many as a row has
 */
public record BlockWeights(Constant weights, Constant scales, Constant zeroPoints, int block) {
    private static final int LEAST = -8;
    private static final int MOST = 7;

    /**
     * The weights that an input stands for: a matrix with a scale for each block of a unit's inputs, or one of four bits with a scale for each unit or
     * for all; empty if it is something else.
     *
     * @param unitAxis the matrix's dimension that counts the units
     */
    public static Optional<BlockWeights> of(NodeContext node, int input, int unitAxis) {
        Optional<IntegerForm> form = node.optional(input).flatMap(OnnxValue::form);
        if (form.orElse(null) instanceof IntegerForm.Blocks blocks) {
            return blocks.axis() == unitAxis ? Optional.empty() : Optional.of(ofBlocks(node, blocks));
        }
        return node.form(input, IntegerForm.Dequantized.class).flatMap(rows -> ofUnits(node, rows, unitAxis));
    }

    private static BlockWeights ofBlocks(NodeContext node, IntegerForm.Blocks blocks) {
        List<Integer> order = blocks.axis() == 1 ? List.of(0, 1) : List.of(1, 0);
        Arg weights = node.transpose(blocks.integers(), order);
        return new BlockWeights(
                node.known(weights, "its weights"),
                node.known(node.transpose(blocks.scales(), order), "its scales"),
                node.known(node.transpose(blocks.zeroPoints(), order), "its zero points"),
                Math.min(blocks.size(), node.shape(weights).dim(1)));
    }

    private static Optional<BlockWeights> ofUnits(NodeContext node, IntegerForm.Dequantized rows, int unitAxis) {
        ElementQuantization by = rows.by();
        boolean isMatrix = rows.integers() instanceof Constant known
                && known.type().dtype() == DType.INT8
                && known.type().shape().rank() == 2
                && known.elements() > 0;
        if (!isMatrix || !(by.isPerTensor() || by.axis() == unitAxis)) {
            return Optional.empty();
        }
        Arg ordered = node.transpose(rows.integers(), unitAxis == 0 ? List.of(0, 1) : List.of(1, 0));
        Constant weights = node.known(ordered, "its weights");
        int units = weights.type().shape().dim(0);
        int depth = weights.type().shape().dim(1);
        byte[] moved = new byte[weights.elements()];
        float[] scales = new float[units];
        float[] zeroPoints = new float[units];
        for (int u = 0; u < units; u++) {
            int first = u * depth;
            IntSummaryStatistics range = IntStream.range(first, first + depth)
                    .map(i -> (int) weights.integer(i))
                    .summaryStatistics();
            if (range.getMax() - range.getMin() > MOST - LEAST) {
                return Optional.empty();
            }
            boolean fits = range.getMin() >= LEAST && range.getMax() <= MOST;
            int shift = fits ? 0 : range.getMin() - LEAST;
            for (int i = first; i < first + depth; i++) {
                moved[i] = (byte) (weights.integer(i) - shift);
            }
            scales[u] = by.scales().get(by.isPerTensor() ? 0 : u);
            zeroPoints[u] = by.zeroPoints().get(by.isPerTensor() ? 0 : u) - shift;
        }
        return Optional.of(new BlockWeights(
                node.bytes(moved, weights.type().shape()),
                node.reals(scales, Shape.of(units, 1)),
                node.reals(zeroPoints, Shape.of(units, 1)),
                depth));
    }

    /** Inputs of a unit. */
    public int depth() {
        return weights.type().shape().dim(1);
    }

    /** Rows along the last dimension of the data times the weights: the last dimension of the product counts the units. */
    public Arg product(NodeContext node, Arg data) {
        return product(node, data, Optional.empty());
    }

    /** The same, and a bias of each unit. */
    public Arg product(NodeContext node, Arg data, Optional<OnnxValue> bias) {
        Shape shape = node.shape(data);
        int units = weights.type().shape().dim(0);
        Arg rows = node.reshape(data, List.of(Math.toIntExact(shape.elements() / depth()), depth()));
        Shape dims = shape.with(-1, units);
        Arg product = node.emit(new BlockDense(units, block), rows, weights, scales, zeroPoints);
        if (bias.isPresent() && node.shape(bias.get().arg()).equals(Shape.of(units))) {
            return node.reshape(node.emit(new BiasAdd(-1), product, bias.get().arg()), dims);
        }
        Arg reshaped = node.reshape(product, dims);
        return bias.map(b -> node.add(reshaped, b.arg())).orElse(reshaped);
    }
}
