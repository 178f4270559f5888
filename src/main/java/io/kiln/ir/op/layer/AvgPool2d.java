// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Mean over a window without padding. No sum of integers wraps around: where one may exceed 32 bits, it has 64. NHWC. Argument: data.
 *
 * @param window geometry
 * @param rounding rounding of integers: {@link Rounding#TFLITE}, halves away from zero, {@link Rounding#TRUNCATE}, or,
 *     for int8, {@link Rounding#UPWARD}, as TensorFlow Lite does for uint8 (reference_ops::AveragePool), {@code
 *     floor((sum + count / 2) / count)}
 */
public record AvgPool2d(Window window, Rounding rounding) implements Pool2d {
    public static final Signature<AvgPool2d> SIGNATURE = Signature.of(AvgPool2d.class, "nn.avg_pool2d")
            .data(
                    "data",
                    operand -> operand.rank(4)
                            .fits((what, type, op, args) -> Check.that(
                                    op.rounding != Rounding.UPWARD || type.dtype() == DType.INT8,
                                    "nn.avg_pool2d rounds upward for int8 only, not for "
                                            + type.dtype().text())))
            .attributes(
                    Attribute.pool(AvgPool2d::window).then("count_include_pad", 0),
                    Attribute.name("rounding", AvgPool2d::rounding, Rounding.TFLITE, Rounding.TRUNCATE, Rounding.UPWARD)
                            .then("layout", "NHWC"),
                    AvgPool2d::new)
            .compiles(DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)
            .spelled(AvgPool2d::form)
            .result((op, args) -> op.window.slid(op, args.get(0)));

    @Override
    public Card<AvgPool2d> card() {
        return SIGNATURE.of(this);
    }

    public AvgPool2d {
        Check.that(rounding != Rounding.TONEAREST, "rounding must be TFLITE, TRUNCATE or UPWARD, not " + rounding);
    }

    /** The mean in TensorFlow Lite's arithmetic. */
    public AvgPool2d(Window window) {
        this(window, Rounding.TFLITE);
    }

    /** Whether the sum under a window, rounding included, may exceed 32 bits. */
    public boolean isWide(TensorType data) {
        if (data.dtype().isFloat()) {
            return false;
        }
        long taps = (long) Math.min(window.kernelH(), data.shape().dim(1))
                * Math.min(window.kernelW(), data.shape().dim(2));
        long least = -data.dtype().min();
        return taps * (rounding == Rounding.UPWARD ? 2 * least : least) + taps / 2 > Integer.MAX_VALUE;
    }

    /** TVM's operator truncates means of int32; those of int8 are computed between two casts. */
    private Spelling form(List<TensorType> args) {
        DType data = args.get(0).dtype();
        boolean truncatesBytes = rounding == Rounding.TRUNCATE && data == DType.INT8;
        boolean truncatesWords = rounding == Rounding.TRUNCATE && data == DType.INT32;
        if (!data.isFloat() && !truncatesBytes && !truncatesWords) {
            return Spelling.own(this);
        }
        Spelling standard = Spelling.of(this).without("rounding");
        return truncatesBytes ? standard.in(Spelling.Form.WORDS) : standard;
    }
}
