// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Optional;

/**
 * The inner loop of {@link BlockedConv} for one core: sums of some pixels' inputs times some channels' weights, as a C function
 * with inline assembly and a portable twin; or no more than the sizes of its blocks, where the whole kernel is assembly.
 *
 * @param name C name
 * @param pixels pixels of a block
 * @param channels channels of a block
 * @param pairsInputs whether the inputs of two pixels come as {@code first + 65536 * second} in one word
 * @param pairsWeights whether the weights of two channels come as {@code first + 16 * second} in one byte
 * @param loop the C function, if there is one
 * @param assembly the whole kernel, if it is assembly
 */
record BlockedSums(
        String name,
        int pixels,
        int channels,
        boolean pairsInputs,
        boolean pairsWeights,
        Optional<Intrinsic> loop,
        Optional<BlockedAssembly> assembly) {
    /** Armv7-M in little flash: for all layers, and for cores that have SIMD too. */
    private static final Intrinsic THUMB_2 = Intrinsic.inFile("thumb/kiln_sums_2x4", List.of(), DType.INT32);

    private static final Intrinsic THUMB_2_PACKED =
            Intrinsic.inFile("thumb/kiln_sums_2x4_packed", List.of(), DType.INT32);

    /** Armv6-M, where one MULS multiplies a weight by the inputs of two pixels. */
    private static final Intrinsic THUMB_1 = Intrinsic.inFile("thumb/kiln_sums_pair_x2", List.of(), DType.INT32);

    private static final Intrinsic THUMB_1_PACKED =
            Intrinsic.inFile("thumb/kiln_sums_pair_x2_packed", List.of(), DType.INT32);

    /** Steps that are written out for speed. */
    private static final int UNROLL = 8;

    /**
     * The loop that suits a core and a layer best, if the core is one of those without SIMD. Cores with it get the loop of Armv7-M where
     * size counts: one kernel for all layers, and a weight a byte, or two. Pairs of weights cost no instructions but a shift for each sum; on
     * RISC-V, which has no instruction for signed halves of bytes, 2 of 42 and the choice of five pixels.
     */
    static Optional<BlockedSums> of(ConvTask task) {
        CpuFeatures features = task.features();
        boolean small = task.isForSize();
        boolean packed = FourBitWeights.fit(task.conv()) && BlockedConv.pairsWeights(task.conv());
        return switch (features.family()) {
            case RISCV ->
                features.bits() == 32 && features.hasLongMultiply()
                        ? Optional.of(riscV(task.conv().output().dim(2), small ? 1 : UNROLL, small && packed))
                        : Optional.empty();
            case CORTEX_M -> {
                if (features.hasDsp()) {
                    yield small
                            ? Optional.of(loop(packed ? THUMB_2_PACKED : THUMB_2, 4, false, packed))
                            : Optional.empty();
                }
                yield Optional.of(
                        !features.hasLongMultiply()
                                ? loop(packed ? THUMB_1_PACKED : THUMB_1, 2, true, packed)
                                : small ? loop(packed ? THUMB_2_PACKED : THUMB_2, 4, false, packed) : thumb2(packed));
            }
            case HOST, OTHER -> Optional.empty();
        };
    }

    /** Weights of a byte. */
    int weightsPerByte() {
        return pairsWeights ? 2 : 1;
    }

    /** What names of kernels for pairs of weights end in. */
    static String suffix(boolean packed) {
        return packed ? "_packed" : "";
    }

    private static BlockedSums thumb2(boolean packed) {
        return new BlockedSums(
                "kiln_sums_2x4" + suffix(packed),
                2,
                4,
                false,
                packed,
                Optional.empty(),
                Optional.of(new BlockedThumb(packed)));
    }

    /** Four pixels and channels, or five pixels where they fill rows and four do not. */
    private static BlockedSums riscV(int width, int unroll, boolean packed) {
        boolean five = width % 5 == 0 && width % 4 != 0 && !packed;
        BlockedRiscV assembly = new BlockedRiscV(five ? 5 : 4, five ? 3 : 4, unroll, packed);
        String name = "kiln_sums_" + assembly.pixels() + "x" + assembly.channels() + suffix(packed);
        return new BlockedSums(
                name, assembly.pixels(), assembly.channels(), false, packed, Optional.empty(), Optional.of(assembly));
    }

    private static BlockedSums loop(Intrinsic function, int channels, boolean pairsInputs, boolean packed) {
        return new BlockedSums(
                function.name(), 2, channels, pairsInputs, packed, Optional.of(function), Optional.empty());
    }
}
