// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.schedule.parts.Turns;
import java.util.List;
import java.util.stream.IntStream;

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

    /** Steps before the loop, and in it. */
    public Turns turns() {
        if (isRolled) {
            int most = Math.max(2, unroll / stepsTogether());
            return Turns.of(steps / stepsTogether(), most).times(stepsTogether());
        }
        return steps <= 2 * unroll ? new Turns(steps, 0, 0) : new Turns((steps - 1) % unroll + 1, unroll, 0);
    }

    /** Whether there is a block behind the {@code blocks} of the kernel's parameter. */
    private boolean hasLast() {
        return rest + overlap > 0;
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
        return isRolled && pixels == 2 && channels == 4;
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

    /** Bytes of weights and constants of a block. */
    public int blockBytes(DspEpilogue epilogue) {
        return weightBytes() * steps + channels * epilogue.constants() * Integer.BYTES;
    }

    private String inTurns() {
        Turns turns = turns();
        if (isRolled) {
            return "_by" + turns.first() + (turns.loop() == 0 ? "" : "_" + turns.loop());
        }
        return turns.loop() == 0 ? "" : "_unroll" + unroll;
    }

    /** Part of a kernel's name. */
    String suffix() {
        return pixels + "x" + channels + "_" + 2 * steps
                + inTurns() + "_out" + pitch
                + (rest > 0 ? "_rest" + rest : "")
                + (overlap > 0 ? "_over" + overlap : "") + (isPaired ? "_paired" : "");
    }
}
