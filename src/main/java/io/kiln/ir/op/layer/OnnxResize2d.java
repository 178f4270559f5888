// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.OnnxBilinear;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An image of int8 between four of whose elements each element of the result lies, NHWC; see {@link OnnxBilinear}.
 *
 * <p>Arguments: data, rows (int32: for each row of the result the upper ones, then the lower ones), their weights (float32, likewise),
 * columns (the left ones, then the right ones), their weights, scale and zero point of the data, those of the result.
 */
public record OnnxResize2d() implements Op {
    /** Position of the rows in the arguments; their weights follow. */
    public static final int ROWS = 1;

    /** Position of the columns. */
    public static final int COLUMNS = 3;

    /** Position of the data's scale; its zero point follows. */
    public static final int FROM = 5;

    /** Position of the result's scale, likewise. */
    public static final int TO = 7;

    /** Products of two smaller weights and a small scale would be subnormal. */
    private static final float LEAST_WEIGHT = (float) Math.scalb(1.0, -40);

    @Override
    public String name() {
        return "onnx.resize2d";
    }

    @Override
    public int arity() {
        return 9;
    }

    @Override
    public Map<String, Object> attributes() {
        return Map.of();
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8);
    }

    @Override
    public void check(Arguments args) {
        args.quantization(FROM, FROM + 1, DType.INT8);
        args.quantization(TO, TO + 1, DType.INT8);
        OnnxScales.checkOrdinary(name(), args, FROM, TO);
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

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 4);
        Check.dtype("data of " + name(), args.get(0), DType.INT8);
        int height = length("rows", args.get(ROWS), args.get(ROWS + 1));
        int width = length("columns", args.get(COLUMNS), args.get(COLUMNS + 1));
        for (int scale : List.of(FROM, TO)) {
            Check.scalar("scale", args.get(scale), DType.FLOAT32);
            Check.scalar("zero point", args.get(scale + 1), DType.INT32);
        }
        Shape data = args.get(0).shape();
        Check.elements(this, args.get(0));
        return new TensorType(Shape.of(data.dim(0), height, width, data.dim(3)), DType.INT8);
    }

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
}
