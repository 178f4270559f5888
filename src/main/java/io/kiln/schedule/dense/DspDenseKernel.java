// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.kernels.dense.Jtedsp_rowGenerated;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspWeights;
import io.kiln.schedule.parts.Turns;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One row of inputs times blocks of up to eight channels, with Arm's DSP instructions and without scratch.
 *
 * @param channels channels of a block, 1 to 8
 * @param inputs inputs, at least four
 * @param unroll steps of four inputs in the loop, if there are more than twice as many
 * @param isRolled whether {@code unroll} is the number of steps in code, the loop is entered in its middle if need be, and registers are those that make
 *     code short
 * @param isPaired whether two words of weights are loaded by one instruction, except behind the inputs: as fast as two on a Cortex-M4
 * @param isCrossed whether inputs are added to weights; where the sums of {@link #crossed} start is then less their products
 * @param epilogue the rescaling of the sums
 */
public record DspDenseKernel(
        int channels,
        int inputs,
        int unroll,
        boolean isRolled,
        boolean isPaired,
        boolean isCrossed,
        DspEpilogue epilogue) {
    private String name() {
        return "kiln_dense_" + channels + "_" + inputs + inTurns() + (isPaired ? "_paired" : "")
                + (isCrossed ? "_crossed" : "") + epilogue.suffix();
    }

    /** {@code (x, w, out, blocks[, late])}. */
    Kernel kernel() {
        return epilogue.kernel(
                name(),
                0,
                KernelSheet.text((out, html) -> Jtedsp_rowGenerated.render(out, html, name(), this, epilogue)));
    }

    /**
     * Channels of a block whose sums are of unpacked weights: all of them, or the second of each two that are packed as sums.
     *
     * @param isSummed see {@link DspWeights}
     */
    static IntStream crossed(int channels, boolean isSummed) {
        return IntStream.range(0, channels).filter(c -> !isSummed || c % 2 == 1);
    }

    /** Registers of these sums; none if nothing is crossed. */
    public List<String> crossedSums() {
        return crossed(isCrossed ? channels : 0, epilogue.range().isSummed())
                .mapToObj(this::sum)
                .toList();
    }

    /** Registers of sums that a table says the start of; the others start with their first products. */
    public List<String> startedSums() {
        return epilogue.isStarted()
                ? IntStream.range(0, channels).mapToObj(this::sum).toList()
                : crossedSums();
    }

    /** Whether inputs and weights are in r2 to r5, which loads can name in 16 bits, and sums in r6 to lr; otherwise sums are in r2 to r9. */
    private boolean isNarrow() {
        return isRolled && epilogue.range().isSummed();
    }

    /** Registers of inputs, two, and of weights, two; those of constants while sums are rescaled. */
    public List<String> operands() {
        return isNarrow() ? List.of("r2", "r3", "r4", "r5") : List.of("r10", "r11", "r12", "lr");
    }

    /** The register of a channel's sum. */
    public String sum(int channel) {
        return isNarrow() ? channel == 7 ? "lr" : "r" + (6 + channel) : "r" + (2 + channel);
    }

    private int steps() {
        return inputs / 4;
    }

    /** Whether there is no loop over the inputs. */
    public boolean isStraight() {
        return turns().loop() == 0;
    }

    /** Steps before the loop, and in it. */
    public Turns turns() {
        if (isRolled) {
            return Turns.of(steps(), Math.max(2, unroll));
        }
        return steps() <= 2 * unroll ? new Turns(steps(), 0, 0) : new Turns((steps() - 1) % unroll + 1, unroll, 0);
    }

    private String inTurns() {
        if (isRolled) {
            return "_by" + turns().first() + (isStraight() ? "" : "_" + turns().loop());
        }
        return isStraight() ? "" : "_unroll" + unroll;
    }

    /** Pairs of channels of a block. */
    public int pairs() {
        return (channels + 1) / 2;
    }
}
