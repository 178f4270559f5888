// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;

/**
 * The geometry of a convolution for the depthwise kernels of {@link DspDepthwise}.
 *
 * <p>Scratch holds, for each column of the window's rows and each of four channels, words of two input rows one below the other,
 * widened to 16 bits: {@code [column][channel][pair of rows]}.
 *
 * @param kernel rows and columns of the window
 * @param stride input rows and columns between those of the output
 * @param width output columns
 * @param channels channels of input and output
 * @param columnsRead which columns the windows reach
 * @param padded whether rows may lie outside the input
 * @param pairs words for each column and channel, enough for two output rows
 */
record DspDepthwiseShape(
        Window.Steps kernel,
        Window.Steps stride,
        int width,
        int channels,
        Columns columnsRead,
        boolean padded,
        int pairs) {
    /**
     * Columns that windows reach.
     *
     * @param padding columns of padding before the first input column
     * @param input columns of the input
     * @param dilation columns from a tap to the next
     */
    record Columns(int padding, int input, int dilation) {}

    /** Channels that are computed together: as many as a word of the input holds. */
    static final int BLOCK = 4;

    private static final int WORD = 4;

    static DspDepthwiseShape of(ConvComputation conv) {
        Window w = conv.window();
        int width = conv.output().dim(2);
        int reached = (width - 1) * w.strideW() + w.spanW() - w.padLeft();
        int rows = w.strideH() + w.kernelH();
        return new DspDepthwiseShape(
                w.kernel(),
                w.stride(),
                width,
                conv.channels(),
                new Columns(
                        w.padLeft(),
                        Math.max(0, Math.min(conv.input().dim(2), reached)),
                        w.kernelW() == 1 ? 1 : w.dilationW()),
                w.padTop() + w.padBottom() > 0,
                (rows + 1) / 2);
    }

    /** Rows of the window. */
    int kernelH() {
        return kernel.rows();
    }

    /** Columns of the window. */
    int kernelW() {
        return kernel.columns();
    }

    /** Input rows between output rows. */
    int strideH() {
        return stride.rows();
    }

    /** Input columns between output columns. */
    int strideW() {
        return stride.columns();
    }

    /** Columns of padding before the first input column. */
    int padLeft() {
        return columnsRead.padding;
    }

    /** Input columns from a tap to the next. */
    int dilationW() {
        return columnsRead.dilation;
    }

    /** Columns from the first tap to the last. */
    int spanW() {
        return (kernelW() - 1) * dilationW() + 1;
    }

    /** Input columns that the windows reach. */
    int inputColumns() {
        return columnsRead.input;
    }

    /** Input rows under the windows of some output rows that follow each other. */
    int inputRows(int outputRows) {
        return (outputRows - 1) * strideH() + kernelH();
    }

    /** Columns in scratch, padding included. */
    int columns() {
        return Math.max(padLeft() + inputColumns(), (width - 1) * strideW() + spanW());
    }

    /** Bytes of scratch from a column to the next. */
    int columnBytes() {
        return BLOCK * channelBytes();
    }

    /** Bytes of scratch from a channel to the next. */
    int channelBytes() {
        return pairs * WORD;
    }

    /** Words of weights for each column of the window: pairs that begin at even taps, then those that begin at odd taps. */
    int weightsPerColumn() {
        return Math.max(1, kernelH() - 1);
    }

    /** Words of weights for a channel. */
    int weights() {
        return kernelW() * weightsPerColumn();
    }

    /** First tap of a weight word within its column. */
    int firstTap(int word) {
        int even = Math.max(1, kernelH() / 2);
        return word < even ? 2 * word : 2 * (word - even) + 1;
    }

    /** The word, within its column, whose halves are two consecutive taps. */
    int wordOf(int firstTap) {
        return firstTap % 2 == 0 ? firstTap / 2 : Math.max(1, kernelH() / 2) + firstTap / 2;
    }

    /** The word, within its column, that holds the last tap, which lies in its upper half unless it is the only one. */
    int wordOfLast() {
        return kernelH() == 1 ? 0 : wordOf(kernelH() - 2);
    }

    /** Part of a kernel's name: everything on which its text depends. */
    String suffix() {
        String dilated = dilationW() == 1 ? "" : "_dilated" + dilationW();
        return kernelH() + "x" + kernelW() + dilated + "_stride" + strideH() + "x" + strideW() + "_w" + width + "_c"
                + channels + "_p" + padLeft() + "_i" + inputColumns() + (padded ? "_padded" : "");
    }
}
