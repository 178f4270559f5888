// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

/**
 * Sizes of a kernel for one or two pixels and blocks of four output channels.
 *
 * @param pixels pixels computed together
 * @param channels channels of a block, 1 to 4; an even number of them have weights
 * @param steps steps of two inputs; even
 * @param unroll steps in the loop, if there are more than twice as many; even
 * @param pitch bytes from a pixel of the output to the next
 * @param overlaps whether the last block lies over the one before; each block then ends with the distance of the next one
 */
record DspConvShape(int pixels, int channels, int steps, int unroll, int pitch, boolean overlaps) {
    /** Bytes of inputs of both pixels. */
    static final int STEP_BYTES = 8;

    /** Words of weights of a step: one for two channels. */
    int pairs() {
        return (channels + 1) / 2;
    }

    /** Bytes of weights of a step. */
    int weightBytes() {
        return pairs() * Integer.BYTES;
    }

    /** The same for one pixel. */
    DspConvShape ofOne() {
        return new DspConvShape(1, channels, steps, unroll, pitch, overlaps);
    }

    /** Steps before the loop. */
    int first() {
        return isStraight() ? steps : (steps - 1) % unroll + 1;
    }

    /** Steps in the loop; 0 for no loop. */
    int loop() {
        return isStraight() ? 0 : unroll;
    }

    /** C's expression for the distance from a block's output to the next one's, with {@code w} behind the block's constants. */
    String advance() {
        return overlaps ? "*w++" : "" + channels;
    }

    /** What a comment says of the channels that have a word each. */
    String pairsInWords() {
        return pairs() == 2 ? "a word for channels 0 and 1 and one for 2 and 3" : "a word for channels 0 and 1";
    }

    /** What a comment says of the words of four inputs. */
    String wordsOfFour() {
        return pairs() == 2 ? "of channels 0 and 1, of 2 and 3, then for 1 and 3" : "of channels 0 and 1, then for 1 and 3";
    }

    /** What a comment says of a block's end. */
    String endInWords() {
        return overlaps ? ", and last the distance of the next block's output" : "";
    }

    private boolean isStraight() {
        return steps <= 2 * unroll;
    }

    /** Bytes of weights and constants of a block. */
    int blockBytes(DspEpilogue epilogue) {
        int constants = channels * epilogue.constants() + (overlaps ? 1 : 0);
        return weightBytes() * steps + constants * Integer.BYTES;
    }

    /** Part of a kernel's name. */
    String suffix() {
        return pixels + "x" + channels + "_" + 2 * steps + (isStraight() ? "" : "_unroll" + unroll) + "_out" + pitch
                + (overlaps ? "_over" : "");
    }
}
