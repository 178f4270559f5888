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

    /** Data that it fits. */
    int[] input(int batch, int depth) {
        return new int[] {batch, inputHeight, inputWidth, depth};
    }

    Options conv2d(byte activation) {
        return Options.conv2d(padding, strideH, strideW, activation, dilationH, dilationW);
    }

    Options depthwise(int multiplier, byte activation) {
        return Options.depthwise(padding, strideH, strideW, multiplier, activation, dilationH, dilationW);
    }

    /** A pool over the window. */
    Options pool(byte activation) {
        return Options.pool(padding, strideH, strideW, height, width, activation);
    }

    /** The output's height if the window is not dilated. */
    int pooledHeight() {
        return outputs(inputHeight, height, strideH);
    }

    /** The output's width if the window is not dilated. */
    int pooledWidth() {
        return outputs(inputWidth, width, strideW);
    }

    private int outputs(int input, int window, int stride) {
        int starts = padding == Options.SAME ? input : input - window + 1;
        return (starts + stride - 1) / stride;
    }
}
