// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.kernels.convolution.Jteriscv_blockGenerated;
import io.kiln.kernels.convolution.Jteriscv_word_pairsGenerated;
import io.kiln.kernels.convolution.Jtethumb1_pairsGenerated;
import io.kiln.kernels.convolution.Jtethumb2_blockGenerated;
import io.kiln.kernels.convolution.Jtethumb2_interleavedGenerated;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.tir.KernelSheet;
import java.util.Optional;

/** {@link BlockedKernel} entirely in assembly, for one core: the variants of the sheets under {@code kernels/convolution}. */
public sealed interface BlockedAssembly {
    /** How two weights share a word; empty if each has a byte, or half of one. */
    default Optional<WeightPairs> weightPairs() {
        return Optional.empty();
    }

    /** Whether the kernel takes the number of bits by which sums are shifted, in place of the power of two that scales them. */
    default boolean shiftsSums() {
        return false;
    }

    /** Part of the kernel's name if the assembly depends on more of the rescaling than its correction and limits. */
    default String suffix(ScalarRequantize rescale) {
        return "";
    }

    /** The C text of the kernel: the assembly and its twin. */
    String text(BlockedKernel kernel);

    /**
     * For Armv6-M, two pixels and two channels at a time.
     *
     * @param packed whether weights come in pairs, two channels in a byte
     * @param unroll number of unrolled steps of two taps, a power of two; a single one for both channels to be rescaled by the same code
     */
    record Thumb1(boolean packed, int unroll) implements BlockedAssembly {
        /** Pixels of a block, and channels. */
        static final int SIZE = 2;

        @Override
        public String suffix(ScalarRequantize rescale) {
            return rescale.isInParts() ? "_parts" : "";
        }

        @Override
        public String text(BlockedKernel kernel) {
            return KernelSheet.text((out, html) -> Jtethumb1_pairsGenerated.render(out, html, kernel, this));
        }
    }

    /**
     * For Armv7-M, two pixels and four channels at a time.
     *
     * @param packed whether weights come in pairs in a byte
     * @param weightPairs pairs in words
     */
    record Thumb2(boolean packed, Optional<WeightPairs> weightPairs) implements BlockedAssembly {
        @Override
        public String text(BlockedKernel kernel) {
            return KernelSheet.text((out, html) -> Jtethumb2_blockGenerated.render(out, html, kernel, this));
        }
    }

    /**
     * The same for one number of taps, with loads that do not wait for each other.
     *
     * @param taps taps of a window, at most {@link #MOST_TAPS}
     */
    record Thumb2Interleaved(int taps) implements BlockedAssembly {
        /** The second pixel's inputs are within reach of a load. */
        static final int MOST_TAPS = InstructionSets.LOAD_REACH;

        @Override
        public String text(BlockedKernel kernel) {
            return KernelSheet.text((out, html) -> Jtethumb2_interleavedGenerated.render(out, html, kernel, this));
        }
    }

    /**
     * For RV32IM.
     *
     * @param pixels number of pixels in a block
     * @param channels number of channels in a block
     * @param unroll number of unrolled steps, a power of two
     * @param packed whether weights come in pairs in a byte
     * @param interleaved whether a product is added while the next one is multiplied
     */
    record RiscV(int pixels, int channels, int unroll, boolean packed, boolean interleaved) implements BlockedAssembly {
        @Override
        public boolean shiftsSums() {
            return true;
        }

        @Override
        public String text(BlockedKernel kernel) {
            return KernelSheet.text((out, html) -> Jteriscv_blockGenerated.render(out, html, kernel, this));
        }
    }

    /**
     * For RV32IM with pairs of weights in words.
     *
     * @param pixels number of pixels in a block
     * @param channels number of channels in a block; even
     * @param pairs the weights
     */
    record RiscVPairs(int pixels, int channels, WeightPairs pairs) implements BlockedAssembly {
        @Override
        public Optional<WeightPairs> weightPairs() {
            return Optional.of(pairs);
        }

        @Override
        public boolean shiftsSums() {
            return true;
        }

        @Override
        public String text(BlockedKernel kernel) {
            return KernelSheet.text((out, html) -> Jteriscv_word_pairsGenerated.render(out, html, kernel, this));
        }
    }
}
