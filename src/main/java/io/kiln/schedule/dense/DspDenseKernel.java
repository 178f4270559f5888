// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.kernels.dense.Jtedsp_rowGenerated;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspWeights;
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
 * @param isPaired whether two words of weights are loaded by one instruction, except behind the inputs: as fast as two on a Cortex-M4
 * @param isCrossed whether inputs are added to weights; each block of weights then begins with minus the products of each of {@link #crossed}
 * @param epilogue the rescaling of the sums
 */
public record DspDenseKernel(
        int channels, int inputs, int unroll, boolean isPaired, boolean isCrossed, DspEpilogue epilogue) {
    private String name() {
        String looped = isStraight() ? "" : "_unroll" + unroll;
        return "kiln_dense_" + channels + "_" + inputs + looped + (isPaired ? "_paired" : "")
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

    /** Registers of these sums. */
    public List<String> crossedSums() {
        return crossed(channels, epilogue.range().isSummed())
                .mapToObj(c -> "r" + (2 + c))
                .toList();
    }

    private int steps() {
        return inputs / 4;
    }

    /** Whether there is no loop over the inputs. */
    public boolean isStraight() {
        return steps() <= 2 * unroll;
    }

    /** Steps before the loop. */
    public int first() {
        return isStraight() ? steps() : (steps() - 1) % unroll + 1;
    }

    /** Pairs of channels of a block. */
    public int pairs() {
        return (channels + 1) / 2;
    }
}
