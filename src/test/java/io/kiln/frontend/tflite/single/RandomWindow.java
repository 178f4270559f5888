// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;

/** A random sliding window that fits its input. */
final class RandomWindow {
    final byte padding;
    final int inputHeight;
    final int inputWidth;
    final int height;
    final int width;
    final int strideH;
    final int strideW;
    final int dilationH;
    final int dilationW;

    RandomWindow(Draw d) {
        padding = d.oneOf(Options.SAME, Options.VALID);
        inputHeight = d.between(1, 12);
        inputWidth = d.between(1, 12);
        dilationH = d.between(1, 4) == 1 ? d.between(2, 3) : 1;
        dilationW = d.between(1, 4) == 1 ? d.between(2, 3) : 1;
        height = size(d, inputHeight, dilationH);
        width = size(d, inputWidth, dilationW);
        strideH = d.between(1, 3);
        strideW = d.between(1, 3);
    }

    /** Without padding, a dilated window is no larger than the input. */
    private int size(Draw d, int input, int dilation) {
        int most = padding == Options.SAME ? 5 : (input - 1) / dilation + 1;
        return d.between(1, Math.min(5, most));
    }

    int outputHeight() {
        return outputs(inputHeight, height, strideH, dilationH);
    }

    int outputWidth() {
        return outputs(inputWidth, width, strideW, dilationW);
    }

    /** The output's height if the window is not dilated. */
    int pooledHeight() {
        return outputs(inputHeight, height, strideH, 1);
    }

    /** The output's width if the window is not dilated. */
    int pooledWidth() {
        return outputs(inputWidth, width, strideW, 1);
    }

    private int outputs(int input, int window, int stride, int dilation) {
        int starts = padding == Options.SAME ? input : input - (window - 1) * dilation;
        return (starts + stride - 1) / stride;
    }
}
