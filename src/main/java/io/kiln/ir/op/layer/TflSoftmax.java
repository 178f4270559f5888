// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;

/**
 * TensorFlow Lite's fixed-point softmax over the last axis: for int8 (reference_ops::Softmax on gemmlowp fixed point,
 * {@link io.kiln.ir.arith.TflSoftmaxTables}), or for int16 (reference_ops::SoftmaxInt16, {@link
 * io.kiln.ir.arith.TflInt16Softmax}).
 *
 * <p>Arguments: data, input scale, input zero point, output scale ({@link #outputScale}), output zero point ({@link #outputZeroPoint}).
 *
 * @param beta factor on the data before the exponential
 * @param outDtype int8, or int16 for a result with more bits; int16 for int16 data
 * @param tables for int16 data, the precision of the tables; single otherwise
 */
public record TflSoftmax(float beta, DType outDtype, FloatPrecision tables) implements Op {
    public static final Signature<TflSoftmax> SIGNATURE = Signature.of(TflSoftmax.class, "tfl.softmax")
            .data("data", operand -> operand.fits((what, type, op, args) -> op.fitData(type.dtype())))
            .scale("input scale")
            .zeroPoint("input zero point")
            .constant("output scale", Operand::scalar, DType.FLOAT32)
            .number("output zero point")
            .says("axis", -1)
            .attributes(
                    Attribute.single("beta", TflSoftmax::beta),
                    Attribute.dtype("out_dtype", TflSoftmax::outDtype, DType.INT8, DType.INT16)
                            .or("out_dtype", DType.INT8),
                    Attribute.name("tables", TflSoftmax::tables, FloatPrecision.SINGLE, FloatPrecision.DOUBLE)
                            .unless("tables", FloatPrecision.SINGLE),
                    TflSoftmax::new)
            .compiles(DType.INT8, DType.INT16)
            .rules(TflSoftmax::rules)
            .to(TflSoftmax::outDtype);

    @Override
    public Card<TflSoftmax> card() {
        return SIGNATURE.of(this);
    }

    /** A softmax with a result of int8. */
    public TflSoftmax(float beta) {
        this(beta, DType.INT8);
    }

    /** A softmax as TensorFlow Lite Micro computes it. */
    public TflSoftmax(float beta, DType outDtype) {
        this(beta, outDtype, FloatPrecision.SINGLE);
    }

    public static float outputScale(DType data, DType result) {
        int bits = data == DType.INT16 ? Short.SIZE - 1 : 8 * result.bytes();
        return 1f / (1 << bits);
    }

    public static int outputZeroPoint(DType data, DType result) {
        return data == DType.INT16 ? 0 : (int) result.min();
    }

    private void checkFixedPoint(Arguments args, float scale) {
        if (args.data().shape().rank() == 0 || !Arguments.isScale(beta) || scale <= 0) {
            return;
        }
        boolean isWide = args.data().dtype() == DType.INT16;
        int most = isWide ? TflInt16Softmax.MAX_ROW : TflSoftmaxTables.MAX_ROW;
        int row = args.data().shape().dim(-1);
        args.require(row <= most, "rows have " + row + " elements", "at most " + most);
        try {
            if (isWide) {
                TflInt16Softmax.multiplier(beta, scale);
            } else {
                TflSoftmaxTables.exponentials(beta, scale);
            }
        } catch (IllegalArgumentException e) {
            args.require(false, e.getMessage(), "an ordinary input scale");
        }
    }

    private void rules(Arguments args) {
        DType data = args.data().dtype();
        int zeroPoint = outputZeroPoint(data, outDtype);
        args.softmax(beta);
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

    private void fitData(DType data) {
        Check.that(
                outDtype == DType.INT8 || outDtype == DType.INT16,
                "the result must be int8 or int16, not " + outDtype.text());
        Check.that(
                data == DType.INT8 || (data == DType.INT16 && outDtype == DType.INT16),
                "softmax of " + data.text() + " to " + outDtype.text() + " is not supported");
        Check.that(
                data == DType.INT16 || tables == FloatPrecision.SINGLE,
                "a softmax of int8 has no tables in double precision");
    }
}
