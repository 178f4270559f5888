// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.arith.TflWideSoftmax;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * TensorFlow Lite's fixed-point softmax over the last axis: for int8 (reference_ops::Softmax on gemmlowp fixed point,
 * {@link io.kiln.ir.arith.TflSoftmaxTables}), or for int16 (reference_ops::SoftmaxInt16, {@link
 * io.kiln.ir.arith.TflWideSoftmax}).
 *
 * <p>Arguments: data, input scale, input zero point, output scale ({@link #outputScale}), output zero point ({@link #outputZeroPoint}).
 *
 * @param beta factor on the data before the exponential
 * @param outDtype int8, or int16 for a result with more bits; int16 for int16 data
 * @param tables for int16 data, the precision of the tables; single otherwise
 */
public record TflSoftmax(float beta, DType outDtype, FloatPrecision tables) implements Op {
    /** A softmax with a result of int8. */
    public TflSoftmax(float beta) {
        this(beta, DType.INT8);
    }

    /** A softmax as TensorFlow Lite Micro computes it. */
    public TflSoftmax(float beta, DType outDtype) {
        this(beta, outDtype, FloatPrecision.SINGLE);
    }

    /** Scale of the result. */
    public static float outputScale(DType data, DType result) {
        int bits = data == DType.INT16 ? Short.SIZE - 1 : 8 * result.bytes();
        return 1f / (1 << bits);
    }

    /** Zero point of the result. */
    public static int outputZeroPoint(DType data, DType result) {
        return data == DType.INT16 ? 0 : (int) result.min();
    }

    @Override
    public String name() {
        return "tfl.softmax";
    }

    @Override
    public int arity() {
        return 5;
    }

    @Override
    public Map<String, Object> attributes() {
        return tables == FloatPrecision.SINGLE
                ? Check.attributes("axis", -1, "beta", (double) beta, "out_dtype", outDtype.text())
                : Check.attributes(
                        "axis", -1, "beta", (double) beta, "out_dtype", outDtype.text(), "tables", tables.name());
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8, DType.INT16);
    }

    @Override
    public void check(Arguments args) {
        DType data = args.data().dtype();
        int zeroPoint = outputZeroPoint(data, outDtype);
        args.softmax(beta);
        args.quantization(1, 2, data);
        args.integers(4, "output zero point", zero -> zero == zeroPoint, String.valueOf(zeroPoint));
        if (args.constant(1).isPresent() && args.constant(3).isPresent()) {
            float expected = outputScale(data, outDtype);
            float actual = args.constant(3).orElseThrow().real(0);
            args.require(
                    Math.abs(actual - expected) <= 0.001f * expected,
                    "the output scale is " + actual,
                    "1/" + Math.round(1 / expected));
            checkFixedPoint(args, args.constant(1).orElseThrow().real(0));
        }
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.scalar("input scale", args.get(1), DType.FLOAT32);
        Check.scalar("input zero point", args.get(2), DType.INT32);
        Check.scalar("output scale", args.get(3), DType.FLOAT32);
        Check.scalar("output zero point", args.get(4), DType.INT32);
        Check.that(
                outDtype == DType.INT8 || outDtype == DType.INT16,
                "the result must be int8 or int16, not " + outDtype.text());
        Check.that(
                args.get(0).dtype() == DType.INT8 || (args.get(0).dtype() == DType.INT16 && outDtype == DType.INT16),
                "softmax of " + args.get(0).dtype().text() + " to " + outDtype.text() + " is not supported");
        Check.that(
                args.get(0).dtype() == DType.INT16 || tables == FloatPrecision.SINGLE,
                "a softmax of int8 has no tables in double precision");
        return new TensorType(args.get(0).shape(), outDtype);
    }

    private void checkFixedPoint(Arguments args, float scale) {
        if (args.data().shape().rank() == 0 || !Arguments.isScale(beta) || scale <= 0) {
            return;
        }
        boolean isWide = args.data().dtype() == DType.INT16;
        int most = isWide ? TflWideSoftmax.MAX_ROW : TflSoftmaxTables.MAX_ROW;
        int row = args.data().shape().dim(-1);
        args.require(row <= most, "rows have " + row + " elements", "at most " + most);
        try {
            if (isWide) {
                TflWideSoftmax.multiplier(beta, scale);
            } else {
                TflSoftmaxTables.exponentials(beta, scale);
            }
        } catch (IllegalArgumentException e) {
            args.require(false, e.getMessage(), "an ordinary input scale");
        }
    }
}
