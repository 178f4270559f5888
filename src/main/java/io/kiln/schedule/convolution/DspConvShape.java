// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.Turns;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Sizes of a kernel for one or two pixels and blocks of four output channels.
 *
 * @param pixels pixels computed together
 * @param channels channels of a block, 1 to 4; an even number of them have weights
 * @param loop steps of two inputs
 * @param pitch bytes from a pixel of the output to the next
 * @param last the last block
 * @param isPaired whether two words and more are loaded and stored by one instruction: fewer instructions, but a few more cycles on a Cortex-M4
 * @param isPacked whether weights take four bits, those of four channels in a halfword; every block then has four
 */
public record DspConvShape(
        int pixels, int channels, Loop loop, int pitch, Last last, boolean isPaired, boolean isPacked) {
    /**
     * Steps of two inputs.
     *
     * @param steps how many; even
     * @param unroll steps in the loop, if there are more than twice as many; even; if rolled, steps in code
     * @param isRolled whether the loop is entered in its middle rather than preceded by the steps that are left over: less code
     */
    record Loop(int steps, int unroll, boolean isRolled) {}

    /**
     * A last block that differs from the others; at most one of both is not 0.
     *
     * @param rest channels of a smaller one, 1 to 3
     * @param overlap channels of a whole one that lie over the block before
     */
    record Last(int rest, int overlap) {
        private static final Last NONE = new Last(0, 0);
    }

    /** Bytes of inputs of both pixels. */
    public static final int STEP_BYTES = 8;

    /** Pairs of channels. */
    public int pairs() {
        return (channels + 1) / 2;
    }

    /** Words of weights of a step: one for two channels, or for four. */
    public int words() {
        return isPacked ? 1 : pairs();
    }

    /** Bytes of a step's weights. */
    public int weightBytes() {
        return words() * Integer.BYTES;
    }

    /** The same for one pixel. */
    DspConvShape ofOne() {
        return new DspConvShape(1, channels, loop, pitch, last, isPaired, isPacked);
    }

    /** The last block, if it is smaller. */
    public DspConvShape ofRest() {
        return new DspConvShape(pixels, last.rest, loop, pitch, Last.NONE, isPaired, isPacked);
    }

    /** Steps of two inputs. */
    public int steps() {
        return loop.steps;
    }

    /** Channels of a smaller last block, 1 to 3; 0 if there is none. */
    public int rest() {
        return last.rest;
    }

    /** Channels of a last block that lie over the block before; 0 if there is none. */
    public int overlap() {
        return last.overlap;
    }

    /** Whether the loop may be entered in its middle. */
    public boolean isRolled() {
        return loop.isRolled;
    }

    /** Steps before the loop, and in it. */
    public Turns turns() {
        int steps = loop.steps;
        int unroll = loop.unroll;
        if (loop.isRolled) {
            int most = Math.max(2, unroll / stepsTogether());
            return Turns.of(steps / stepsTogether(), most).times(stepsTogether());
        }
        return steps <= 2 * unroll ? new Turns(steps, 0, 0) : new Turns((steps - 1) % unroll + 1, unroll, 0);
    }

    /** Whether there is a block behind the {@code blocks} of the kernel's parameter. */
    private boolean hasLast() {
        return last.rest + last.overlap > 0;
    }

    /** Steps of two inputs that are one step of the assembly. */
    public int stepsTogether() {
        return 3 - pixels;
    }

    /**
     * Whether inputs and weights are in low registers, which the loads of two pixels can name in 16 bits: r4 to r7, and the sums in r2, r3, r8, r9
     * and r10 to lr. Otherwise sums are in r2 to r9, and inputs and weights in r10 to lr.
     */
    private boolean isNarrow() {
        return loop.isRolled && pixels == 2 && channels == 4;
    }

    /** Registers of inputs, two, and of weights, two; those of constants while sums are rescaled. */
    public List<String> operands() {
        return isNarrow() ? List.of("r4", "r5", "r6", "r7") : List.of("r10", "r11", "r12", "lr");
    }

    /** The register of a sum. */
    public String sum(int pixel, int channel) {
        if (isNarrow()) {
            return List.of("r2", "r3", "r8", "r9", "r10", "r11", "r12", "lr").get(4 * pixel + channel);
        }
        return "r" + (2 + 4 * pixel + channel);
    }

    /** Registers of a channel's sums. */
    public List<String> sums(int channel) {
        return IntStream.range(0, pixels).mapToObj(pixel -> sum(pixel, channel)).toList();
    }

    /** The register that ends up behind the first pixel's outputs. */
    public String output() {
        return operands().get(isNarrow() ? 0 : 2);
    }

    /** The blocks, in words. */
    public String blocksInWords() {
        return "blocks of " + channels + " channels" + (last.rest > 0 ? " and one of " + last.rest : "")
                + (last.overlap > 0 ? ", the last one over the one before" : "");
    }

    /** The weights of a step, in words. */
    public String weightsInWords(DspEpilogue epilogue) {
        String words = isPacked
                ? "a word for all channels"
                : pairs() == 2 ? "a word for channels 0 and 1 and one for 2 and 3" : "a word for channels 0 and 1";
        return words + ", its halfwords " + (isPacked ? FourBitWeights.HALFWORD : epilogue.halfwords());
    }

    /** C's expression for the number of blocks. */
    public String blocksInC() {
        return hasLast() ? "blocks + 1" : "blocks";
    }

    /** C's expression for the channels of a block. */
    public String channelsInC() {
        return last.rest > 0 ? "channels" : "" + channels;
    }

    /** C's expression for the words of a step's weights. */
    public String pairsInC() {
        return last.rest > 0 ? "pairs" : "" + words();
    }

    /** Bytes of weights and constants of a block. */
    public int blockBytes(DspEpilogue epilogue) {
        return weightBytes() * loop.steps + channels * epilogue.constants() * Integer.BYTES;
    }

    private String inTurns() {
        Turns turns = turns();
        if (loop.isRolled) {
            return "_by" + turns.first() + (turns.loop() == 0 ? "" : "_" + turns.loop());
        }
        return turns.loop() == 0 ? "" : "_unroll" + loop.unroll;
    }

    /** Part of a kernel's name. */
    String suffix() {
        return pixels + "x" + channels + "_" + 2 * loop.steps
                + inTurns() + "_out" + pitch
                + (last.rest > 0 ? "_rest" + last.rest : "")
                + (last.overlap > 0 ? "_over" + last.overlap : "") + (isPaired ? "_paired" : "")
                + (isPacked ? "_four_bits" : "");
    }
}
