// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.RealScale;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

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

    @Override
    public String name() {
        return "tfl.requantize_real";
    }

    @Override
    public int arity() {
        return 6;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("out_dtype", outDtype.text(), "precision", precision.name());
    }

    @Override
    public Set<Trait> traits() {
        return Set.of(Trait.TAKES_CLIP, Trait.RESCALES);
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT32, DType.INT64);
    }

    @Override
    public void check(Arguments args) {
        args.scales(1);
        args.scales(2);
        args.quantization(3, 5, outDtype);
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

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        Check.oneOf("data", data, precision == FloatPrecision.DOUBLE ? dataTypes() : Set.of(DType.INT32));
        Check.scalar("data scale", args.get(1), DType.FLOAT32);
        Check.perAxis(
                "weight scale",
                args.get(2),
                DType.FLOAT32,
                data.shape().rank() == 0 ? 1 : data.shape().dim(-1));
        Check.scalar("output scale", args.get(3), DType.FLOAT32);
        Check.scalar("bias", args.get(4), DType.FLOAT32);
        Check.scalar("output zero point", args.get(5), DType.INT32);
        return new TensorType(data.shape(), outDtype);
    }
}
