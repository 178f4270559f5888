// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;

/** Sizes of NHWC data under a window, and which taps of the window lie inside the data. */
record Geometry(Window window, int batch, int inH, int inW, int inC, int outH, int outW, int outC) {
    static Geometry of(Window window, Shape data, Shape output) {
        return new Geometry(
                window,
                data.dim(0),
                data.dim(1),
                data.dim(2),
                data.dim(3),
                output.dim(1),
                output.dim(2),
                output.dim(3));
    }

    /** First input row of an output row's window; may lie in the padding. */
    int top(int row) {
        return row * window.strideH() - window.padTop();
    }

    int left(int column) {
        return column * window.strideW() - window.padLeft();
    }

    /** First tap at or after the data's edge. */
    static int firstTap(int origin, int dilation) {
        return origin >= 0 ? 0 : (-origin + dilation - 1) / dilation;
    }

    /** One past the last tap inside the data. */
    static int lastTap(int origin, int dilation, int kernel, int size) {
        return size <= origin ? 0 : Math.min(kernel, (size - origin + dilation - 1) / dilation);
    }

    /** Index of the first channel of a pixel. */
    int input(int n, int row, int column) {
        return ((n * inH + row) * inW + column) * inC;
    }

    int output(int n, int row, int column) {
        return ((n * outH + row) * outW + column) * outC;
    }
}
