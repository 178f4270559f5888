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
 * @param overlap channels of a last block that lie over the block before; 0 if there is none
 * @param isRolled whether the loop is entered in its middle rather than preceded by the steps that are left over: less code
 * @param isPaired whether two words and more are loaded and stored by one instruction: fewer instructions, but a few more cycles on a Cortex-M4
 */
public record DspConvShape(
        int pixels,
        int channels,
        int steps,
        int unroll,
        int pitch,
        int rest,
        int overlap,
        boolean isRolled,
        boolean isPaired) {
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
        return new DspConvShape(1, channels, steps, unroll, pitch, rest, overlap, isRolled, isPaired);
    }

    /** The last block, if it is smaller. */
    public DspConvShape ofRest() {
        return new DspConvShape(pixels, rest, steps, unroll, pitch, 0, 0, isRolled, isPaired);
    }

    /** Steps before the loop. */
    public int first() {
        if (isStraight()) {
            return steps;
        }
        return isRolled ? stepsTogether() : (steps - 1) % unroll + 1;
    }

    /** Steps in the loop; 0 for no loop. */
    public int loop() {
        if (isStraight()) {
            return 0;
        }
        return isRolled ? stepsOfTurn() : unroll;
    }

    /** Steps of a turn, so that turns are as few as with the number that may be unrolled, and none is much shorter. */
    private int stepsOfTurn() {
        int looped = (steps - first()) / stepsTogether();
        int most = Math.max(1, unroll / stepsTogether());
        int turns = (looped + most - 1) / most;
        return (looped + turns - 1) / turns * stepsTogether();
    }

    /** Steps of the loop that its first turn leaves out. */
    public int skipped() {
        return loop() == 0 ? 0 : Math.floorMod(first() - steps, loop());
    }

    /** Whether there is a block behind the {@code blocks} of the kernel's parameter. */
    private boolean hasLast() {
        return rest + overlap > 0;
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
        return "blocks of " + channels + " channels" + (rest > 0 ? " and one of " + rest : "")
                + (overlap > 0 ? ", the last one over the one before" : "");
    }

    /** The weights of a step, in words. */
    public String wordsOfPairs() {
        return pairs() == 2 ? "a word for channels 0 and 1 and one for 2 and 3" : "a word for channels 0 and 1";
    }

    /** C's expression for the number of blocks. */
    public String blocksInC() {
        return hasLast() ? "blocks + 1" : "blocks";
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
        return isRolled ? steps - stepsTogether() <= unroll : steps <= 2 * unroll;
    }

    /** Bytes of weights and constants of a block. */
    public int blockBytes(DspEpilogue epilogue) {
        return weightBytes() * steps + channels * epilogue.constants() * Integer.BYTES;
    }

    /** Part of a kernel's name. */
    String suffix() {
        return pixels + "x" + channels + "_" + 2 * steps
                + (isStraight() ? "" : isRolled ? "_rolled" + loop() : "_unroll" + unroll) + "_out" + pitch
                + (rest > 0 ? "_rest" + rest : "")
                + (overlap > 0 ? "_over" + overlap : "") + (isPaired ? "_paired" : "");
    }
}
