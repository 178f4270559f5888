// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.base.DType;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The inner loop of {@link BlockedConv} for one core: sums of some pixels' inputs times some channels' weights, as a C
 * function with inline assembly and a portable twin; or only the block sizes, if the whole kernel is assembly.
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
    /** Armv7-M optimized for size: for all layers, also on cores that have SIMD. */
    private static final Intrinsic THUMB_2 = Intrinsic.inFile("thumb/kiln_sums_2x4", List.of(), DType.INT32);

    private static final Intrinsic THUMB_2_PACKED =
            Intrinsic.inFile("thumb/kiln_sums_2x4_packed", List.of(), DType.INT32);

    /** Armv6-M, where one MULS multiplies a weight by the inputs of two pixels. */
    private static final Intrinsic THUMB_1 = Intrinsic.inFile("thumb/kiln_sums_pair_x2", List.of(), DType.INT32);

    private static final Intrinsic THUMB_1_PACKED =
            Intrinsic.inFile("thumb/kiln_sums_pair_x2_packed", List.of(), DType.INT32);

    /** Unrolled steps when optimizing for speed. */
    private static final int UNROLL = 8;

    /**
     * Whether blocks of pixels and channels are best for a core: one without SIMD, or one with SIMD if size is
     * optimized, because one kernel serves all layers and a weight takes a byte or half of one.
     */
    static boolean isFor(Workload workload) {
        CpuFeatures features = workload.features();
        return isThere(features)
                && (features.family() == CpuFeatures.Family.RISCV || !features.hasDsp() || workload.isForSize());
    }

    /** Whether there is a loop for a core. */
    private static boolean isThere(CpuFeatures features) {
        return switch (features.family()) {
            case RISCV -> features.bits() == 32 && features.hasLongMultiply();
            case CORTEX_M -> true;
            case HOST, OTHER -> false;
        };
    }

    /**
     * The loops of a core for a layer, the best first. Pairs of weights cost no instructions except a shift for each
     * sum; on RISC-V, which has no instruction for signed halves of bytes, they cost 2 of 42 and the choice of five
     * pixels, so that they come last unless size is optimized.
     */
    static List<BlockedSums> of(Workload workload) {
        CpuFeatures features = workload.features();
        boolean isSmall = workload.isForSize();
        boolean canPack = FourBitWeights.fit(workload.conv()) && FourBitWeights.areSummable(workload.conv());
        if (!isThere(features)) {
            return List.of();
        }
        if (features.family() == CpuFeatures.Family.RISCV) {
            return riscV(workload.conv().output().dim(2), isSmall, canPack);
        }
        List<Boolean> packings = canPack ? List.of(true, false) : List.of(false);
        if (!features.hasLongMultiply()) {
            return packings.stream()
                    .map(packed -> loop(packed ? THUMB_1_PACKED : THUMB_1, 2, true, packed))
                    .toList();
        }
        return packings.stream()
                .map(packed -> isSmall || features.hasDsp()
                        ? loop(packed ? THUMB_2_PACKED : THUMB_2, 4, false, packed)
                        : thumb2(packed))
                .toList();
    }

    /** Weights of a byte. */
    int weightsPerByte() {
        return pairsWeights ? 2 : 1;
    }

    /** Suffix of the names of kernels for pairs of weights. */
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

    /**
     * Four pixels and channels, or five pixels and three channels, which are better if they fill rows and four do not.
     */
    private static List<BlockedSums> riscV(int width, boolean isSmall, boolean canPack) {
        int unroll = isSmall ? 1 : UNROLL;
        List<BlockedSums> all = new ArrayList<>();
        all.add(riscV(4, 4, unroll, false));
        all.add(width % 5 == 0 && width % 4 != 0 ? 0 : 1, riscV(5, 3, unroll, false));
        if (canPack) {
            all.add(isSmall ? 0 : 2, riscV(4, 4, unroll, true));
        }
        return all;
    }

    private static BlockedSums riscV(int pixels, int channels, int unroll, boolean packed) {
        BlockedRiscV assembly = new BlockedRiscV(pixels, channels, unroll, packed);
        String name = "kiln_sums_" + pixels + "x" + channels + suffix(packed);
        return new BlockedSums(name, pixels, channels, false, packed, Optional.empty(), Optional.of(assembly));
    }

    private static BlockedSums loop(Intrinsic function, int channels, boolean pairsInputs, boolean packed) {
        return new BlockedSums(
                function.name(), 2, channels, pairsInputs, packed, Optional.of(function), Optional.empty());
    }
}
