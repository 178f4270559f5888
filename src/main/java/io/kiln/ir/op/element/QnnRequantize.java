// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;

/**
 * TVM's rescaling, rounding once: {@code saturate(outputZeroPoint + round((data - inputZeroPoint) * multiplier *
 * 2^(shift - 31)))}, where multiplier (Q31) and shift are those of {@code inputScale / outputScale}, divided in double
 * precision ({@link io.kiln.base.FixedPoint.QuantizedMultiplier#of}; GetFixedPointMultiplierShift in TVM's
 * src/relay/qnn/utils.cc). The product is exact in 64 bits, and nothing wraps around.
 *
 * <p>With {@link Rounding#ONNX}: {@code saturate(outputZeroPoint + round((float) data * (inputScale / outputScale)))},
 * every step in single precision, halves to even (ONNX Runtime, MlasRequantizeOutput in
 * core/mlas/lib/quantize.cpp).
 *
 * <p>Arguments: data (int8 or int32), input scale (scalar or per channel), input zero point, output scale, output zero point.
 *
 * @param axis channel axis of a per-channel input scale; negative counts from the end
 * @param rounding {@link Rounding#UPWARD} or {@link Rounding#TONEAREST}; for int32 also {@link Rounding#ONNX}
 * @param outDtype type that the result saturates to: int8, uint8 or int16
 */
public record QnnRequantize(int axis, Rounding rounding, DType outDtype) implements Op {
    public static final Signature<QnnRequantize> SIGNATURE = Signature.of(QnnRequantize.class, "qnn.requantize")
            .data("data", operand -> operand.fits((what, type, op, args) -> op.fitData(type)), DType.INT8, DType.INT32)
            .scales("input scale", (op, args) -> op.channels(args.get(0)))
            .number("input zero point")
            .scale("output scale")
            .zeroPoint("output zero point", (op, args) -> DType.INT8)
            .attributes(
                    Attribute.whole("axis", QnnRequantize::axis),
                    Attribute.name(
                                    "rounding",
                                    QnnRequantize::rounding,
                                    Rounding.UPWARD,
                                    Rounding.TONEAREST,
                                    Rounding.ONNX)
                            .then("compute_dtype", QnnRequantize.COMPUTE_DTYPE),
                    Attribute.dtype("out_dtype", QnnRequantize::outDtype, DType.INT8, DType.UINT8, DType.INT16),
                    QnnRequantize::new)
            .traits(Trait.TAKES_CLIP, Trait.RESCALES, Trait.ELEMENTWISE)
            .rules(QnnRequantize::rules)
            .to(QnnRequantize::outDtype);

    @Override
    public Card<QnnRequantize> card() {
        return SIGNATURE.of(this);
    }

    /** Largest ratio of an input's scale to the output's. */
    private static final double MOST_RATIO = 1 << 29;

    /** Relay's name of its arithmetic: 64-bit integers. */
    public static final String COMPUTE_DTYPE = "int64";

    public QnnRequantize {
        Check.that(
                outDtype.isInteger() && outDtype.bytes() < Integer.BYTES,
                "out_dtype must be int8, uint8 or int16, not " + outDtype.text());
        Check.that(
                rounding == Rounding.UPWARD || rounding == Rounding.TONEAREST || rounding == Rounding.ONNX,
                "rounding must be UPWARD, TONEAREST or ONNX, not " + rounding);
    }

    /** The multiplier from an input scale to the output's; in ONNX's arithmetic a float32. */
    public QuantizedMultiplier multiplier(float inputScale, float outputScale) {
        return QuantizedMultiplier.of(
                rounding == Rounding.ONNX ? inputScale / outputScale : inputScale / (double) outputScale);
    }

    private void rules(Arguments args) {
        args.ratio(1, 3, MOST_RATIO);
        boolean isWide = args.data().dtype() == DType.INT32;
        args.integers(
                2,
                "zero point",
                zero -> isWide ? zero == 0 : Arguments.isIn(DType.INT8, zero),
                isWide ? "0 for int32" : "-128 to 127");
        if (args.constant(1).filter(scales -> scales.elements() > 1).isPresent()) {
            args.lastAxis(axis);
        }
    }

    private void fitData(TensorType data) {
        if (data.shape().rank() > 0) {
            Check.axis(data, axis);
        }
        Check.that(
                rounding != Rounding.ONNX || data.dtype() == DType.INT32,
                "rounding ONNX rescales int32, not " + data.dtype().text());
    }

    private int channels(TensorType data) {
        return data.shape().rank() == 0 ? 1 : data.shape().dim(axis);
    }
}
