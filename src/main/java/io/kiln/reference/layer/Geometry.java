// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;

/** Sizes of NHWC data under a window, and which taps of the window lie inside the data. */
record Geometry(Window window, int batch, Image in, Image out) {
    /** Sizes of one image. */
    record Image(int rows, int columns, int channels) {
        static Image of(Shape shape) {
            return new Image(shape.dim(1), shape.dim(2), shape.dim(3));
        }

        /** Index of the first channel of a pixel of the n-th image. */
        int pixel(int n, int row, int column) {
            return ((n * rows + row) * columns + column) * channels;
        }
    }

    static Geometry of(Window window, Shape data, Shape output) {
        return new Geometry(window, data.dim(0), Image.of(data), Image.of(output));
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
        return in.pixel(n, row, column);
    }

    int output(int n, int row, int column) {
        return out.pixel(n, row, column);
    }
}
