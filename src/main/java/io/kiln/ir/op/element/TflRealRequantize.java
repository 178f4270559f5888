// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.RealRescaling.RealScale;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;

/**
 * The rescaling of sums with floats, as some kernels of TensorFlow Lite do it: {@code saturate(outputZeroPoint + round(data * (dataScale *
 * weightScale / outputScale) + bias))}, halves away from zero.
 *
 * <p>In double precision it is FULLY_CONNECTED (reference/integer_ops/fully_connected.h: FullyConnected and FullyConnectedPerChannel with
 * scales), whose bias is 0. In single precision it is SUM (optimized_ops.h: QuantizedMeanOrSum), whose weight scale is 1.
 *
 * <p>Arguments: data (int32 or int64, channels last), data scale, weight scale (scalar or per channel), output scale, bias (float32 scalar),
 * output zero point.
 *
 * @param outDtype type that the result saturates to; int8 in single precision
 * @param precision of every step
 */
public record TflRealRequantize(DType outDtype, FloatPrecision precision) implements Op {
    public static final Signature<TflRealRequantize> SIGNATURE = Signature.of(
                    TflRealRequantize.class, "tfl.requantize_real")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            op.precision == FloatPrecision.DOUBLE || type.dtype() == DType.INT32,
                            "data must be int32, not " + type.dtype().text())),
                    DType.INT32,
                    DType.INT64)
            .scale("data scale")
            .scales(
                    "weight scale",
                    (op, args) -> args.get(0).shape().rank() == 0
                            ? 1
                            : args.get(0).shape().dim(-1))
            .scale("output scale")
            .constant("bias", Operand::scalar, DType.FLOAT32)
            .zeroPoint("output zero point", (op, args) -> op.outDtype)
            .attributes(
                    Attribute.dtype("out_dtype", TflRealRequantize::outDtype, DType.INT8, DType.INT16),
                    Attribute.name(
                            "precision", TflRealRequantize::precision, FloatPrecision.DOUBLE, FloatPrecision.SINGLE),
                    TflRealRequantize::new)
            .traits(Trait.TAKES_CLIP, Trait.RESCALES)
            .rules(TflRealRequantize::rules)
            .to(TflRealRequantize::outDtype);

    @Override
    public Card<TflRealRequantize> card() {
        return SIGNATURE.of(this);
    }

    private static final double MOST_SLOPE = 1 << 30;

    public TflRealRequantize {
        Check.that(
                outDtype == DType.INT8 || (outDtype == DType.INT16 && precision == FloatPrecision.DOUBLE),
                "rescaling to " + outDtype.text() + " in precision " + precision + " is not supported");
    }

    /** The function of a channel. */
    public RealScale scale(float data, float weight, float output, float bias) {
        return new RealScale(precision, precision.rounded((double) data * weight / output), bias);
    }

    private void rules(Arguments args) {
        boolean isSingle = precision == FloatPrecision.SINGLE;
        args.constant(2).ifPresent(weights -> {
            boolean fits = true;
            for (int i = 0; i < weights.elements(); i++) {
                double slope = args.constant(1).map(c -> (double) c.real(0)).orElse(1.0)
                        * weights.real(i)
                        / args.constant(3).map(c -> (double) c.real(0)).orElse(1.0);
                fits &= slope <= MOST_SLOPE && (!isSingle || weights.real(i) == 1);
            }
            args.require(fits, "the scales of " + name() + " are too far apart", "a product below 2^30");
        });
        args.constant(4)
                .ifPresent(bias -> args.require(
                        Float.isFinite(bias.real(0)) && (isSingle || bias.real(0) == 0),
                        "the bias of " + name() + " is " + bias.real(0),
                        isSingle ? "a finite number" : "0"));
    }
}
