// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import java.util.List;

/**
 * Sizes of a kernel for one or two pixels and blocks of four output channels.
 *
 * @param pixels pixels computed together
 * @param channels channels of a block, 1 to 4; an even number of them have weights
 * @param steps steps of two inputs; even
 * @param unroll steps in the loop, if there are more than twice as many; even
 * @param pitch bytes from a pixel of the output to the next
 * @param rest channels of a smaller last block, 1 to 3; 0 if there is none
 * @param isPaired whether two words and more are loaded and stored by one instruction: fewer instructions, but a few more cycles on a Cortex-M4
 */
public record DspConvShape(int pixels, int channels, int steps, int unroll, int pitch, int rest, boolean isPaired) {
    /** Bytes of inputs of both pixels. */
    public static final int STEP_BYTES = 8;

    /** Words of weights of a step: one for two channels. */
    public int pairs() {
        return (channels + 1) / 2;
    }

    /** Bytes of a step's weights. */
    public int weightBytes() {
        return pairs() * Integer.BYTES;
    }

    /** The same for one pixel. */
    DspConvShape ofOne() {
        return new DspConvShape(1, channels, steps, unroll, pitch, rest, isPaired);
    }

    /** The last block, if it is smaller. */
    public DspConvShape ofRest() {
        return new DspConvShape(pixels, rest, steps, unroll, pitch, 0, isPaired);
    }

    /** Steps before the loop. */
    public int first() {
        return isStraight() ? steps : (steps - 1) % unroll + 1;
    }

    /** Steps in the loop; 0 for no loop. */
    public int loop() {
        return isStraight() ? 0 : unroll;
    }

    /** Steps of two inputs that are one step of the assembly. */
    public int stepsTogether() {
        return 3 - pixels;
    }

    /** Registers of a channel's sums: the pixels' r2 to r5 and r6 to r9. */
    public List<String> sums(int channel) {
        return List.of("r" + (2 + channel), "r" + (6 + channel)).subList(0, pixels);
    }

    /** The blocks, in words. */
    public String blocksInWords() {
        return "blocks of " + channels + " channels" + (rest > 0 ? " and one of " + rest : "");
    }

    /** The weights of a step, in words. */
    public String wordsOfPairs() {
        return pairs() == 2 ? "a word for channels 0 and 1 and one for 2 and 3" : "a word for channels 0 and 1";
    }

    /** C's expression for the number of blocks. */
    public String blocksInC() {
        return rest > 0 ? "blocks + 1" : "blocks";
    }

    /** C's expression for the channels of a block. */
    public String channelsInC() {
        return rest > 0 ? "channels" : "" + channels;
    }

    /** C's expression for the words of a step's weights. */
    public String pairsInC() {
        return rest > 0 ? "pairs" : "" + pairs();
    }

    private boolean isStraight() {
        return steps <= 2 * unroll;
    }

    /** Bytes of weights and constants of a block. */
    public int blockBytes(DspEpilogue epilogue) {
        return weightBytes() * steps + channels * epilogue.constants() * Integer.BYTES;
    }

    /** Part of a kernel's name. */
    String suffix() {
        return pixels + "x" + channels + "_" + 2 * steps + (isStraight() ? "" : "_unroll" + unroll) + "_out" + pitch
                + (rest > 0 ? "_rest" + rest : "") + (isPaired ? "_paired" : "");
    }
}
