// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Mean over a window without padding. Integers are summed in 32 bits, or in 64 where a sum of int8 or int16 may exceed them. NHWC. Argument:
 * data.
 *
 * @param window geometry
 * @param rounding rounding of integers: {@link Rounding#TFLITE}, halves away from zero, {@link Rounding#TRUNCATE}, or,
 *     for int8, {@link Rounding#UPWARD}, as TensorFlow Lite does for uint8 (reference_ops::AveragePool), {@code
 *     floor((sum + count / 2) / count)}
 */
public record AvgPool2d(Window window, Rounding rounding) implements Pool2d {
    public AvgPool2d {
        Check.that(rounding != Rounding.TONEAREST, "rounding must be TFLITE, TRUNCATE or UPWARD, not " + rounding);
    }

    /** The mean in TensorFlow Lite's arithmetic. */
    public AvgPool2d(Window window) {
        this(window, Rounding.TFLITE);
    }

    /** Whether the sum under a window, rounding included, may exceed 32 bits. */
    public boolean isWide(TensorType data) {
        if (data.dtype() != DType.INT8 && data.dtype() != DType.INT16) {
            return false;
        }
        long taps = (long) Math.min(window.kernelH(), data.shape().dim(1))
                * Math.min(window.kernelW(), data.shape().dim(2));
        long least = -data.dtype().min();
        return taps * (rounding == Rounding.UPWARD ? 2 * least : least) + taps / 2 > Integer.MAX_VALUE;
    }

    @Override
    public String name() {
        return "nn.avg_pool2d";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "pool_size",
                window.kernelSize(),
                "strides",
                window.strides(),
                "dilation",
                window.dilation(),
                "padding",
                window.padding(),
                "count_include_pad",
                0,
                "rounding",
                rounding.name(),
                "layout",
                "NHWC");
    }

    /** TVM's operator truncates means of int32; those of int8 are computed between two casts. */
    @Override
    public Spelling spelling(List<TensorType> args) {
        DType data = args.get(0).dtype();
        boolean truncatesBytes = rounding == Rounding.TRUNCATE && data == DType.INT8;
        boolean truncatesWords = rounding == Rounding.TRUNCATE && data == DType.INT32;
        if (!data.isFloat() && !truncatesBytes && !truncatesWords) {
            return Spelling.own(this);
        }
        Spelling standard = Spelling.of(this).without("rounding");
        return truncatesBytes ? standard.in(Spelling.Form.WORDS) : standard;
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 4);
        Check.that(
                rounding != Rounding.UPWARD || args.get(0).dtype() == DType.INT8,
                name() + " rounds upward for int8 only, not for "
                        + args.get(0).dtype().text());
        Shape data = args.get(0).shape();
        int height = window.outputHeight(data.dim(1));
        int width = window.outputWidth(data.dim(2));
        Check.that(height > 0 && width > 0, name() + ": the window is larger than the padded input");
        return new TensorType(
                Shape.of(data.dim(0), height, width, data.dim(3)), args.get(0).dtype());
    }
}
