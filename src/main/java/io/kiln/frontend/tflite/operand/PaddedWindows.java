// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.SchemaEnums.Padding;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import java.util.Optional;

/** Converts TFLite's padding schemes to explicit padding (ComputePaddingHeightWidth in kernels/padding.h). */
public final class PaddedWindows {
    /** Limit that keeps sums of window sizes far from overflow. */
    private static final int LIMIT = 1 << 16;

    private PaddedWindows() {}

    public record Pair(int h, int w) {}

    /**
     * The window over NHWC data. Invalid geometry ends the operator's import.
     *
     * @param padding code of the schema's enum Padding
     */
    public static Window of(
            OperatorContext operator, Shape data, int padding, Pair kernel, Pair stride, Pair dilation) {
        Optional<Padding> scheme = Padding.of(padding);
        operator.require(scheme.isPresent(), "padding scheme " + padding, "SAME (0) or VALID (1)", "");
        checkRange(operator, "window", kernel);
        checkRange(operator, "stride", stride);
        checkRange(operator, "dilation", dilation);
        operator.check();
        checkRange(operator, "dilated window", new Pair(span(kernel.h, dilation.h), span(kernel.w, dilation.w)));
        operator.check();
        boolean isSame = scheme.equals(Optional.of(Padding.SAME));
        int padH = isSame ? total(data.dim(1), span(kernel.h, dilation.h), stride.h) : 0;
        int padW = isSame ? total(data.dim(2), span(kernel.w, dilation.w), stride.w) : 0;
        return Window.of(kernel.h, kernel.w)
                .strided(stride.h, stride.w)
                .dilated(dilation.h, dilation.w)
                .padded(padH / 2, padW / 2, padH - padH / 2, padW - padW / 2);
    }

    private static int span(int kernel, int dilation) {
        return (int) Math.min(LIMIT + 1L, (kernel - 1L) * dilation + 1);
    }

    private static int total(int input, int span, int stride) {
        int output = (input + stride - 1) / stride;
        return (int) Math.max(0, (output - 1L) * stride + span - input);
    }

    private static void checkRange(OperatorContext operator, String what, Pair pair) {
        operator.require(
                pair.h >= 1 && pair.w >= 1 && pair.h <= LIMIT && pair.w <= LIMIT,
                what + " is " + pair.h + " x " + pair.w,
                "sizes from 1 to " + LIMIT);
    }
}
