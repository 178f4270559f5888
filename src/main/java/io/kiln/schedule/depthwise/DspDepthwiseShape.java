// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import java.util.List;

/**
 * The geometry of a convolution for the depthwise kernels of {@link DspDepthwiseSchedule}.
 *
 * <p>Scratch holds, for each column of the window's rows and each of four channels, words of two input rows one below the other,
 * widened to 16 bits: {@code [column][channel][pair of rows]}.
 *
 * @param kernel rows and columns of the window
 * @param stride input rows and columns between those of the output
 * @param width output columns
 * @param channels channels of the input, at least two
 * @param multiplier channels of the output for each of these
 * @param columnsRead which columns the windows reach
 * @param padded whether rows may lie outside the input
 */
public record DspDepthwiseShape(
        Window.Steps kernel,
        Window.Steps stride,
        int width,
        int channels,
        int multiplier,
        Columns columnsRead,
        boolean padded) {
    /**
     * Columns that windows reach.
     *
     * @param padding columns of padding before the first input column
     * @param input columns of the input
     * @param dilation columns from a tap to the next
     */
    record Columns(int padding, int input, int dilation) {}

    /** Channels of the input that are computed together: as many as a word of it holds. */
    static final int BLOCK = 4;

    /** Fewer channels than that are loaded as words, too, but not so few. */
    static final int LEAST_CHANNELS = 2;

    private static final int WORD = 4;

    static DspDepthwiseShape of(ConvComputation conv) {
        Window w = conv.window();
        int width = conv.output().dim(2);
        int reached = (width - 1) * w.strideW() + w.spanW() - w.padLeft();
        return new DspDepthwiseShape(
                w.kernel(),
                w.stride(),
                width,
                conv.input().dim(3),
                conv.channels() / conv.input().dim(3),
                new Columns(
                        w.padLeft(),
                        Math.max(0, Math.min(conv.input().dim(2), reached)),
                        w.kernelW() == 1 ? 1 : w.dilationW()),
                w.padTop() + w.padBottom() > 0);
    }

    /** Rows of the window. */
    public int kernelH() {
        return kernel.rows();
    }

    /** Columns of the window. */
    public int kernelW() {
        return kernel.columns();
    }

    /** Input rows between output rows. */
    public int strideH() {
        return stride.rows();
    }

    /** Input columns between output columns. */
    public int strideW() {
        return stride.columns();
    }

    /** Columns of padding before the first input column. */
    public int padLeft() {
        return columnsRead.padding;
    }

    /** Input columns from a tap to the next. */
    public int dilationW() {
        return columnsRead.dilation;
    }

    /** Columns from the first tap to the last. */
    public int spanW() {
        return (kernelW() - 1) * dilationW() + 1;
    }

    /** Input columns that the windows reach. */
    public int inputColumns() {
        return columnsRead.input;
    }

    /** Input rows under the windows of some output rows that follow each other. */
    public int inputRows(int outputRows) {
        return (outputRows - 1) * strideH() + kernelH();
    }

    /** Columns in scratch, padding included. */
    int columns() {
        return Math.max(padLeft() + inputColumns(), (width - 1) * strideW() + spanW());
    }

    /** Channels of the input in a block. */
    public int block() {
        return Math.min(BLOCK, channels);
    }

    /** Channels of the output. */
    public int outputs() {
        return channels * multiplier;
    }

    /** Bytes of scratch from a column to the next. */
    public int columnBytes() {
        return block() * channelBytes();
    }

    /** Words for each column and channel, enough for two output rows. */
    public int pairs() {
        return (strideH() + kernelH() + 1) / 2;
    }

    /** Bytes of scratch from a channel to the next. */
    public int channelBytes() {
        return pairs() * WORD;
    }

    /** Words of weights for each column of the window: pairs that begin at even taps, then those that begin at odd taps. */
    public int weightsPerColumn() {
        return Math.max(1, kernelH() - 1);
    }

    /** Words of weights for a channel. */
    public int weights() {
        return kernelW() * weightsPerColumn();
    }

    /** First tap of a weight word within its column. */
    int firstTap(int word) {
        int even = Math.max(1, kernelH() / 2);
        return word < even ? 2 * word : 2 * (word - even) + 1;
    }

    /** The word, within its column, that holds a tap and the next one, or the last tap in its upper half; tap -1: the first one in its lower half. */
    public int wordWith(int tap) {
        int first = Math.max(0, Math.min(tap, kernelH() - 2));
        return first % 2 == 0 ? first / 2 : Math.max(1, kernelH() / 2) + first / 2;
    }

    /** The window, in words. */
    public String kernelInWords() {
        return kernelH() + "x" + kernelW() + (dilationW() == 1 ? "" : ", dilated by " + dilationW());
    }

    /** The channels of a block, in words. */
    public String blockInWords() {
        String channels = List.of("two", "three", "four").get(block() - 2) + " channels";
        return multiplier == 1 ? channels : channels + ", " + multiplier + " outputs each,";
    }

    /** Part of a kernel's name: everything on which its text depends. */
    String suffix() {
        String dilated = dilationW() == 1 ? "" : "_dilated" + dilationW();
        return kernelH() + "x" + kernelW() + dilated + "_stride" + strideH() + "x" + strideW() + "_w" + width + "_c"
                + channels + (multiplier == 1 ? "" : "x" + multiplier) + "_p" + padLeft() + "_i" + inputColumns()
                + (padded ? "_padded" : "");
    }
}
