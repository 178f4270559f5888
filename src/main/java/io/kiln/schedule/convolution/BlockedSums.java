// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The inner loop of {@link BlockedConvSchedule} for one core, one of {@link BlockedLoops}: sums of some pixels' inputs times some channels' weights, as a C
 * function with inline assembly and a portable twin; or only the block sizes, if the whole kernel is assembly.
 *
 * @param name C name
 * @param pixels pixels of a block
 * @param channels channels of a block
 * @param pairsInputs whether the inputs of two pixels come as {@code first + 65536 * second} in one word
 * @param pairsWeights whether the weights of two channels come in one byte
 * @param interleaved whether instructions are interleaved so that few of them wait for the previous one
 * @param body the code
 */
record BlockedSums(
        String name,
        int pixels,
        int channels,
        boolean pairsInputs,
        boolean pairsWeights,
        boolean interleaved,
        Body body) {
    /** How the sums are computed. */
    sealed interface Body {
        /** By a C function in a kernel of C. */
        record Loop(Intrinsic function) implements Body {}

        /** In a kernel that is all assembly. */
        record Whole(BlockedAssembly assembly) implements Body {}

        /**
         * By a kernel that does not rescale.
         *
         * @param kernel the kernel, which is printed when it is taken: most candidates are not
         * @param areWeightsMoved whether weights in the table are 128 more
         * @param weightPairs how two weights share a word of the table, if they do
         */
        record Apart(Supplier<Kernel> kernel, boolean areWeightsMoved, Optional<WeightPairs> weightPairs)
                implements Body {}
    }

    /** The C function, if there is one. */
    Optional<Intrinsic> loop() {
        return body instanceof Body.Loop loop ? Optional.of(loop.function) : Optional.empty();
    }

    /** The whole kernel, if it is assembly. */
    Optional<BlockedAssembly> assembly() {
        return body instanceof Body.Whole whole ? Optional.of(whole.assembly) : Optional.empty();
    }

    /** The kernel that does not rescale, if it is one. */
    Optional<Body.Apart> apart() {
        return body instanceof Body.Apart apart ? Optional.of(apart) : Optional.empty();
    }

    /** How two weights share a word of the table; empty if each has a byte, or half of one. */
    Optional<WeightPairs> weightPairs() {
        return assembly().flatMap(BlockedAssembly::weightPairs).or(() -> apart().flatMap(Body.Apart::weightPairs));
    }

    /** Whether a byte with two weights is {@code first + 16 * second}, and not its halves. */
    boolean sumsWeights() {
        return pairsWeights && (loop().isPresent() || assembly().orElseThrow() instanceof BlockedAssembly.Thumb2);
    }

    /** Weights of an element of the table. */
    int weightsPerElement() {
        return pairsWeights || weightPairs().isPresent() ? 2 : 1;
    }

    /** Suffix of the names of kernels for pairs of weights. */
    static String suffix(boolean packed) {
        return packed ? "_packed" : "";
    }
}
