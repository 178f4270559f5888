// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.OnnxBilinear;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * An image of int8 between four of whose elements each element of the result lies, NHWC; see {@link OnnxBilinear}.
 *
 * <p>Arguments: data, rows (int32: for each row of the result the upper ones, then the lower ones), their weights (float32, likewise),
 * columns (the left ones, then the right ones), their weights, scale and zero point of the data, those of the result.
 */
public record OnnxResize2d() implements Op {
    public static final Signature<OnnxResize2d> SIGNATURE = Signature.of(OnnxResize2d.class, "onnx.resize2d")
            .data("data", operand -> operand.rank(4).filled(), DType.INT8)
            .constant("rows", DType.INT32)
            .constant("row weights", DType.FLOAT32)
            .constant("columns", DType.INT32)
            .constant("column weights", DType.FLOAT32)
            .quantization("input")
            .quantization("output")
            .attributes(OnnxResize2d::new)
            .rules(OnnxResize2d::rules)
            .result(OnnxResize2d::result);

    @Override
    public Card<OnnxResize2d> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the rows in the arguments; their weights follow. */
    public static final int ROWS = SIGNATURE.position("rows");

    /** Position of the columns. */
    public static final int COLUMNS = SIGNATURE.position("columns");

    /** Position of the data's scale; its zero point follows. */
    public static final int FROM = SIGNATURE.position("input scale");

    /** Position of the result's scale, likewise. */
    public static final int TO = SIGNATURE.position("output scale");

    /** Products of two smaller weights and a small scale would be subnormal. */
    private static final float LEAST_WEIGHT = (float) Math.scalb(1.0, -40);

    private static int length(String what, TensorType indices, TensorType weights) {
        boolean arePairs = indices.shape().rank() == 2
                && indices.shape().dim(0) == 2
                && indices.shape().dim(1) > 0;
        Check.that(
                arePairs
                        && indices.dtype() == DType.INT32
                        && weights.equals(new TensorType(indices.shape(), DType.FLOAT32)),
                what + " must be int32 of two for each element, with float32 weights, not " + indices.text() + " and "
                        + weights.text());
        return indices.shape().dim(1);
    }

    private void rules(Arguments args) {
        OnnxScales.check(name(), args, FROM, TO);
        args.ratio(FROM, TO, OnnxBilinear.MOST_RATIO);
        Shape data = args.data().shape();
        args.integers(ROWS, "row", row -> row >= 0 && row < data.dim(1), "0 to " + (data.dim(1) - 1));
        args.integers(COLUMNS, "column", column -> column >= 0 && column < data.dim(2), "0 to " + (data.dim(2) - 1));
        for (int weights : List.of(ROWS + 1, COLUMNS + 1)) {
            args.constant(weights).ifPresent(w -> {
                boolean areFractions = true;
                for (int i = 0; i < w.elements(); i++) {
                    areFractions &= w.real(i) == 0 || (w.real(i) >= LEAST_WEIGHT && w.real(i) <= 1);
                }
                args.require(areFractions, "a weight of " + name() + " is not valid", "0, or 2^-40 to 1");
            });
        }
    }

    private TensorType result(List<TensorType> args) {
        int height = length("rows", args.get(ROWS), args.get(ROWS + 1));
        int width = length("columns", args.get(COLUMNS), args.get(COLUMNS + 1));
        Shape data = args.get(0).shape();
        return new TensorType(Shape.of(data.dim(0), height, width, data.dim(3)), DType.INT8);
    }
}
