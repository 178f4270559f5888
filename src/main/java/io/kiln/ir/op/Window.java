// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import java.util.List;

/**
 * Geometry of a sliding window over height and width, shared by convolutions and pools.
 *
 * <p>Output row {@code r} reads input rows {@code r * strideH - padTop + k * dilationH} for {@code k < kernelH}.
 *
 * @param kernelH window height
 * @param kernelW window width
 * @param strideH rows between windows
 * @param strideW columns between windows
 * @param dilationH rows between taps
 * @param dilationW columns between taps
 * @param padTop rows added above; padBottom below, padLeft and padRight at the sides
 */
public record Window(
        int kernelH,
        int kernelW,
        int strideH,
        int strideW,
        int dilationH,
        int dilationW,
        int padTop,
        int padLeft,
        int padBottom,
        int padRight) {
    /** One tap, as in a fully connected layer. */
    public static final Window ONE = new Window(1, 1, 1, 1, 1, 1, 0, 0, 0, 0);

    public Window {
        Check.that(kernelH > 0 && kernelW > 0, "window must be at least 1x1, not " + kernelH + "x" + kernelW);
        Check.that(strideH > 0 && strideW > 0, "strides must be positive, not " + strideH + ", " + strideW);
        Check.that(dilationH > 0 && dilationW > 0, "dilation must be positive, not " + dilationH + ", " + dilationW);
        Check.that(padTop >= 0 && padLeft >= 0 && padBottom >= 0 && padRight >= 0, "padding must not be negative");
    }

    /** Rows of the output for an input of the given height; not positive if the window does not fit. */
    public int outputHeight(int inputHeight) {
        return Math.floorDiv(inputHeight + padTop + padBottom - spanH(), strideH) + 1;
    }

    public int outputWidth(int inputWidth) {
        return Math.floorDiv(inputWidth + padLeft + padRight - spanW(), strideW) + 1;
    }

    /** Rows covered by one window, including the gaps of dilation. */
    public int spanH() {
        return (kernelH - 1) * dilationH + 1;
    }

    public int spanW() {
        return (kernelW - 1) * dilationW + 1;
    }

    public boolean isPadded() {
        return padTop > 0 || padLeft > 0 || padBottom > 0 || padRight > 0;
    }

    public List<Integer> strides() {
        return List.of(strideH, strideW);
    }

    /** Relay's order: top, left, bottom, right. */
    public List<Integer> padding() {
        return List.of(padTop, padLeft, padBottom, padRight);
    }

    public List<Integer> dilation() {
        return List.of(dilationH, dilationW);
    }

    public List<Integer> kernelSize() {
        return List.of(kernelH, kernelW);
    }
}
