// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import java.util.Optional;

/** TensorFlow Lite's padding of windows. */
public enum PaddingScheme {
    /** As many windows as elements, divided by the stride; an odd element is added at the end. */
    SAME,
    /** None. */
    VALID;

    /** The scheme that gives a window its padding over NHWC data; empty if none does. */
    public static Optional<PaddingScheme> of(Window window, Shape data) {
        if (!window.isPadded()) {
            return Optional.of(VALID);
        }
        int rows = total(data.dim(1), window.spanH(), window.strideH());
        int columns = total(data.dim(2), window.spanW(), window.strideW());
        Window same = Window.of(window.kernelH(), window.kernelW())
                .strided(window.strideH(), window.strideW())
                .dilated(window.dilationH(), window.dilationW())
                .padded(rows / 2, columns / 2, rows - rows / 2, columns - columns / 2);
        return same.equals(window) ? Optional.of(SAME) : Optional.empty();
    }

    private static int total(int input, int span, int stride) {
        int output = (input + stride - 1) / stride;
        return (int) Math.max(0, (output - 1L) * stride + span - input);
    }
}
