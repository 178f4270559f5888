// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.ConstantElements;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Fully connected layer of floats whose weights are small integers with a scale and a zero point for each block of a row (MatMulNBits of ONNX
 * Runtime, weights of ONNX's DequantizeLinear with {@code block_size}, block-wise weights of TensorFlow Lite): {@code out[r, u] =
 * sum over blocks b of scale[u, b] * (sum over k in b of data[r, k] * (weight[u, k] - zeroPoint[u, b]))}, blocks and elements in ascending
 * order, in single precision. The last block of a row is shorter if the block does not divide it.
 *
 * <p>Arguments: data (rows, in), float32; then constants: weight (units, in), int8; scale (units, blocks), float32; zero point (units,
 * blocks), float32, since ONNX Runtime takes fractions. Weights that fit four bits are stored in four.
 *
 * @param units rows of the weight
 * @param block weights of a block, at most {@code in}
 */
public record BlockDense(int units, int block) implements Op {
    public static final Signature<BlockDense> SIGNATURE = Signature.of(BlockDense.class, "onnx.block_dense")
            .data("data", operand -> operand.rank(2).filled(), DType.FLOAT32)
            .constant("weight", operand -> operand.weighs().rank(2).filled(), DType.INT8)
            .constant("scale", operand -> operand.rank(2), DType.FLOAT32)
            .constant("zero point", operand -> operand.rank(2), DType.FLOAT32)
            .attributes(
                    Attribute.whole("units", BlockDense::units, 1),
                    Attribute.whole("block_size", BlockDense::block, 1),
                    BlockDense::new)
            .own()
            .traits(Trait.TAKES_CLIP, Trait.TAKES_BIAS)
            .rules(BlockDense::rules)
            .result(BlockDense::result);

    @Override
    public Card<BlockDense> card() {
        return SIGNATURE.of(this);
    }

    /** Blocks of a row. */
    public int blocks(int depth) {
        return (depth - 1) / block + 1;
    }

    private static TensorType result(BlockDense op, List<TensorType> args) {
        int depth = args.get(1).shape().dim(1);
        TensorType result = Dense.fitted(op, op.units, args, DType.FLOAT32);
        Check.that(op.block <= depth, "blocks of " + op.block + " do not fit rows of " + depth);
        Shape expected = Shape.of(op.units, op.blocks(depth));
        for (TensorType parameter : args.subList(2, args.size())) {
            Check.that(
                    parameter.shape().equals(expected),
                    op.name() + " has parameters " + parameter.text() + ", not " + expected.text() + " for each block");
        }
        return result;
    }

    private void rules(Arguments args) {
        for (int position = 2; position <= 3 && args.areConstant(2); position++) {
            ConstantElements values = args.constant(position).orElseThrow();
            args.require(
                    IntStream.range(0, values.elements()).allMatch(i -> Float.isFinite(values.real(i))),
                    "a scale or zero point of " + name() + " is not valid",
                    "finite numbers");
        }
    }
}
