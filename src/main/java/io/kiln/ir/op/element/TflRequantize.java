// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
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
 * Fixed-point rescaling by explicit multipliers. TensorFlow Lite's arithmetic rounds twice ({@link
 * io.kiln.base.FixedPoint#multiplyByQuantizedMultiplier(int, int, int)}): {@code saturate(outputZeroPoint +
 * MultiplyByQuantizedMultiplier(data - inputZeroPoint, multiplier, shift))}.
 *
 * <p>For int64 data it rounds once, with the multiplier's upper 16 bits ({@link
 * io.kiln.base.FixedPoint#multiplyByQuantizedMultiplier(long, int, int)}), as the reference kernels do for int64
 * accumulators.
 *
 * <p>TVM's arithmetic rounds once, halves upward or away from zero ({@link
 * io.kiln.base.FixedPoint#multiplyRoundingUpward}), exact in 64 bits, for data of up to 32 bits and results of up to
 * 16.
 *
 * <p>Arguments: data, multiplier (int32, Q31, scalar or per channel), shift (int32, the power of two, positive to the
 * left, likewise). Multipliers are explicit because TFLite computes them from scales in double precision.
 *
 * @param axis channel axis of per-channel multipliers; negative counts from the end
 * @param inputZeroPoint subtracted from the data
 * @param outputZeroPoint added to the result
 * @param outDtype type that the result saturates to
 * @param rounding {@link Rounding#TFLITE}, {@link Rounding#UPWARD} or {@link Rounding#TONEAREST}
 */
public record TflRequantize(int axis, int inputZeroPoint, int outputZeroPoint, DType outDtype, Rounding rounding)
        implements Op {
    public static final Signature<TflRequantize> SIGNATURE = Signature.of(TflRequantize.class, "tfl.requantize")
            .data("data", operand -> operand.fits((what, type, op, args) -> op.fitData(type)))
            .constant(
                    "multiplier",
                    operand -> operand.scalarOr((op, args) -> op.channels(args.get(0)))
                            .within(0, Long.MAX_VALUE),
                    DType.INT32)
            .constant(
                    "shift",
                    operand -> operand.scalarOr((op, args) -> op.channels(args.get(0)))
                            .within(-31, 30),
                    DType.INT32)
            .attributes(
                    Attribute.whole("axis", TflRequantize::axis, -4, 3),
                    Attribute.whole("input_zero_point", TflRequantize::inputZeroPoint),
                    Attribute.whole("output_zero_point", TflRequantize::outputZeroPoint),
                    Attribute.name(
                            "rounding", TflRequantize::rounding, Rounding.TFLITE, Rounding.UPWARD, Rounding.TONEAREST),
                    Attribute.dtype(
                            "out_dtype", TflRequantize::outDtype, DType.INT8, DType.INT16, DType.INT32, DType.UINT8),
                    (axis, input, output, rounding, dtype) -> new TflRequantize(axis, input, output, dtype, rounding))
            .traits(Trait.TAKES_CLIP, Trait.RESCALES, Trait.ELEMENTWISE)
            .compiles(DType.INT8, DType.UINT8, DType.INT16, DType.INT32, DType.INT64)
            .rules(TflRequantize::rules)
            .to(TflRequantize::outDtype);

    @Override
    public Card<TflRequantize> card() {
        return SIGNATURE.of(this);
    }

    public TflRequantize {
        Check.that(rounding != Rounding.TRUNCATE, "rounding must be TFLITE, UPWARD or TONEAREST, not " + rounding);
        Check.that(
                rounding == Rounding.TFLITE || outDtype.bytes() < Integer.BYTES,
                "rescaling that rounds once to " + outDtype.text() + " is not supported");
    }

    /** Rescaling in TensorFlow Lite's arithmetic. */
    public TflRequantize(int axis, int inputZeroPoint, int outputZeroPoint, DType outDtype) {
        this(axis, inputZeroPoint, outputZeroPoint, outDtype, Rounding.TFLITE);
    }

    private static void checkZeroPoint(Arguments args, String what, int zeroPoint, DType dtype) {
        boolean wide = dtype.bytes() >= Integer.BYTES;
        args.require(
                wide ? zeroPoint == 0 : dtype.isInteger() && Arguments.isIn(dtype, zeroPoint),
                what + " is " + zeroPoint,
                wide ? "0 for " + dtype.text() : "a value of " + dtype.text());
    }

    private void rules(Arguments args) {
        args.lastAxis(axis);
        checkZeroPoint(args, "input_zero_point", inputZeroPoint, args.data().dtype());
        checkZeroPoint(args, "output_zero_point", outputZeroPoint, outDtype);
    }

    private void fitData(TensorType data) {
        if (data.shape().rank() > 0) {
            Check.axis(data, axis);
        }
        Check.that(
                rounding == Rounding.TFLITE || !data.dtype().isLong(),
                "data must have at most 32 bits where rescaling rounds once");
    }

    private int channels(TensorType data) {
        return data.shape().rank() == 0 ? 1 : data.shape().dim(axis);
    }
}
