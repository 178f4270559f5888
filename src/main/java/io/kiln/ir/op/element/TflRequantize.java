// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

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

    @Override
    public String name() {
        return "tfl.requantize";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "axis", axis,
                "input_zero_point", inputZeroPoint,
                "output_zero_point", outputZeroPoint,
                "rounding", rounding.name(),
                "out_dtype", outDtype.text());
    }

    @Override
    public Set<Trait> traits() {
        return Set.of(Trait.TAKES_CLIP, Trait.RESCALES);
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8, DType.UINT8, DType.INT16, DType.INT32, DType.INT64);
    }

    @Override
    public void check(Arguments args) {
        args.integers(1, "multiplier", multiplier -> multiplier >= 0, "0 or more");
        args.integers(2, "shift", shift -> shift >= -31 && shift <= 30, "-31 to 30");
        args.lastAxis(axis);
        checkZeroPoint(args, "input_zero_point", inputZeroPoint, args.data().dtype());
        checkZeroPoint(args, "output_zero_point", outputZeroPoint, outDtype);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        boolean isScalar = args.get(0).shape().rank() == 0;
        if (!isScalar) {
            Check.axis(args.get(0), axis);
        }
        int channels = isScalar ? 1 : args.get(0).shape().dim(axis);
        Check.perAxis("multiplier", args.get(1), DType.INT32, channels);
        Check.perAxis("shift", args.get(2), DType.INT32, channels);
        Check.that(
                rounding == Rounding.TFLITE || !args.get(0).dtype().isLong(),
                "data must have at most 32 bits where rescaling rounds once");
        return new TensorType(args.get(0).shape(), outDtype);
    }

    private static void checkZeroPoint(Arguments args, String what, int zeroPoint, DType dtype) {
        boolean wide = dtype.bytes() >= Integer.BYTES;
        args.require(
                wide ? zeroPoint == 0 : dtype.isInteger() && Arguments.isIn(dtype, zeroPoint),
                what + " is " + zeroPoint,
                wide ? "0 for " + dtype.text() : "a value of " + dtype.text());
    }
}
