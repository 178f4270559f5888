// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.DType;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.BlockedSums.Body;
import io.kiln.schedule.convolution.SumsKernel.Core;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The loops {@link BlockedSums} that a core has for a layer. */
public final class BlockedLoops {
    /** Armv7-M optimized for size: for all layers, also on cores that have SIMD. */
    private static final Intrinsic THUMB_2 = Intrinsic.inFile("dense/kiln_sums_2x4", List.of(), DType.INT32);

    private static final Intrinsic THUMB_2_PACKED =
            Intrinsic.inFile("dense/kiln_sums_2x4_packed", List.of(), DType.INT32);

    /** Unrolled steps when optimizing for speed. */
    private static final int UNROLL = 8;

    /** The same on Armv6-M, where a loop's end reaches back 256 bytes. */
    private static final int UNROLL_THUMB_1 = 4;

    /** Armv6-M: a kernel that does not rescale. */
    private static final Kernel PAIR_APART = Kernel.inFile(
            "dense/kiln_sums_of_pair_x2",
            Pointer.lastWritten(DType.INT32, DType.INT8, DType.INT32),
            List.of(DType.INT32));

    /** Layers with fewer multiply-accumulates run in plain loops if size is optimized and no kernel that rescales suits them. */
    private static final long LEAST_MACS = 5000;

    /** Layers with fewer channels get loops of just these. */
    private static final int FEW = 4;

    private BlockedLoops() {}

    /**
     * Whether blocks of pixels and channels are best for a core: one without SIMD, or one with SIMD if size is
     * optimized, because one kernel serves all layers and a weight takes a byte or half of one.
     */
    public static boolean isFor(Workload workload) {
        CpuFeatures features = workload.features();
        return isThere(features)
                && (features.family() == CpuFeatures.Family.RISCV || !features.hasDsp() || workload.isForSize());
    }

    /** Whether there is a loop for a core. */
    static boolean isThere(CpuFeatures features) {
        return switch (features.family()) {
            case RISCV -> features.bits() == 32 && features.hasLongMultiply();
            case CORTEX_M -> true;
            case HOST, OTHER -> false;
        };
    }

    /** The rescaling of a layer by one multiplication, if it is proven: on Armv6-M, with the scale for which that takes the fewest instructions. */
    public static Optional<ScalarRequantize> rescale(Workload workload) {
        return workload.features().hasLongMultiply()
                ? ScalarRequantize.of(workload.conv())
                : ScalarRequantize.of(workload.conv(), ScalarRequantize.BITS_IN_PARTS);
    }

    /**
     * The loops of a core for a layer, the best first: pairs of weights if possible. On Armv7-M, where they must be summable, they cost no
     * instructions except a shift for each sum; on RISC-V, which has no instruction for signed halves of bytes, they cost 4 of 44 and the choice
     * of five pixels, and on Armv6-M 3 of 25.
     */
    static List<BlockedSums> of(Workload workload) {
        CpuFeatures features = workload.features();
        boolean isSmall = workload.isForSize();
        boolean areSummed = features.family() != CpuFeatures.Family.RISCV && features.hasLongMultiply();
        boolean canPack =
                FourBitWeights.fit(workload.conv()) && (!areSummed || FourBitWeights.areSummable(workload.conv()));
        if (!isThere(features)) {
            return List.of();
        }
        if (features.family() == CpuFeatures.Family.RISCV) {
            return riscV(workload.conv().output().dim(2), isSmall, canPack);
        }
        List<Boolean> packings = canPack ? List.of(true, false) : List.of(false);
        if (!features.hasLongMultiply()) {
            return packings.stream()
                    .map(packed -> thumb1(new BlockedAssembly.Thumb1(packed, isSmall ? 1 : UNROLL_THUMB_1)))
                    .toList();
        }
        if (isSmall || features.hasDsp()) {
            return packings.stream()
                    .map(packed -> loop(packed ? THUMB_2_PACKED : THUMB_2, packed))
                    .toList();
        }
        int taps = workload.conv().taps();
        List<BlockedSums> all = new ArrayList<>();
        packings.forEach(
                packed -> all.add(whole("", packed, false, new BlockedAssembly.Thumb2(packed, Optional.empty()))));
        if (taps <= BlockedAssembly.Thumb2Interleaved.MOST_TAPS) {
            all.add(whole("_interleaved_" + taps, false, true, new BlockedAssembly.Thumb2Interleaved(taps)));
        }
        return all;
    }

    /**
     * Loops of a core that do not rescale, for layers that have too few pixels or channels for the others, or no proven rescaling; the
     * largest first.
     */
    static List<BlockedSums> apart(Workload workload) {
        CpuFeatures features = workload.features();
        int channels = workload.conv().channels();
        if (!isFor(workload) || (workload.isForSize() && !isWorthFlash(workload))) {
            return List.of();
        }
        int few = Math.min(FEW, channels);
        int single = channels <= FEW ? channels : 2 * FEW;
        if (features.family() == CpuFeatures.Family.RISCV) {
            List<BlockedSums> all = new ArrayList<>(apart(Core.RV32, List.of(4, 1), List.of(few, single), false));
            // Sums of four pixels and channels leave no register for a second product.
            all.addAll(apart(Core.RV32, List.of(4, 1), List.of(Math.min(FEW - 1, channels), single), true));
            return List.copyOf(all);
        }
        if (features.hasLongMultiply()) {
            List<BlockedSums> all = new ArrayList<>(apart(Core.ARMV7_M, List.of(2, 1), List.of(few, single), false));
            all.addAll(apart(Core.ARMV7_M, List.of(2, 1), List.of(few, single), true));
            return List.copyOf(all);
        }
        return List.of(
                new BlockedSums(
                        PAIR_APART.name(),
                        2,
                        2,
                        true,
                        false,
                        false,
                        new Body.Apart(() -> PAIR_APART, false, Optional.empty())),
                apart(new SumsKernel(Core.ARMV6_M, 1, few, false)));
    }

    /** Whether a layer is so large that its loop is worth a kernel of its own even if size is optimized. */
    private static boolean isWorthFlash(Workload workload) {
        return workload.macs() >= LEAST_MACS && !workload.features().hasDsp() && !FourBitWeights.pack(workload);
    }

    private static List<BlockedSums> apart(
            Core core, List<Integer> pixels, List<Integer> channels, boolean interleaved) {
        return IntStream.range(0, pixels.size())
                .mapToObj(i -> apart(new SumsKernel(core, pixels.get(i), channels.get(i), interleaved)))
                .toList();
    }

    /** Loops with pairs of weights in words, for a core without SIMD and a layer whose weights permit it: some that rescale, some that do not. */
    static List<BlockedSums> inPairs(Workload workload) {
        CpuFeatures features = workload.features();
        if (workload.isForSize() || !isFor(workload) || !features.hasLongMultiply()) {
            return List.of();
        }
        boolean isRiscV = features.family() == CpuFeatures.Family.RISCV;
        ConvComputation conv = workload.conv();
        if (isRiscV) {
            return WeightPairs.ofWord(conv)
                    .map(pairs -> List.of(
                            whole(3, FEW, new BlockedAssembly.RiscVPairs(3, FEW, pairs), pairs),
                            whole(5, 2, new BlockedAssembly.RiscVPairs(5, 2, pairs), pairs),
                            apart(SumsKernel.of(Core.RV32, pairs))))
                    .orElse(List.of());
        }
        List<BlockedSums> all = new ArrayList<>();
        WeightPairs.ofLong(conv).ifPresent(pairs -> {
            all.add(whole(2, FEW, new BlockedAssembly.Thumb2(false, Optional.of(pairs)), pairs));
            all.add(apart(SumsKernel.of(Core.ARMV7_M, pairs)));
        });
        WeightPairs.ofWord(conv).ifPresent(pairs -> all.add(apart(SumsKernel.of(Core.ARMV7_M, pairs))));
        return List.copyOf(all);
    }

    private static BlockedSums whole(int pixels, int channels, BlockedAssembly assembly, WeightPairs pairs) {
        String name = "kiln_sums_" + pixels + "x" + channels + pairs.suffix();
        return new BlockedSums(name, pixels, channels, false, false, false, new Body.Whole(assembly));
    }

    private static BlockedSums apart(SumsKernel kernel) {
        Body body = new Body.Apart(kernel::kernel, kernel.areWeightsMoved(), kernel.weightPairs());
        return new BlockedSums(
                kernel.name(), kernel.pixels(), kernel.channels(), false, false, kernel.interleaved(), body);
    }

    /** Whether loops of blocks with more channels than a layer has would waste most of their work. */
    static boolean areFew(ConvComputation conv) {
        return conv.channels() < FEW;
    }

    private static BlockedSums whole(String suffix, boolean packed, boolean interleaved, BlockedAssembly assembly) {
        String name = "kiln_sums_2x4" + suffix + BlockedSums.suffix(packed);
        return new BlockedSums(name, 2, FEW, false, packed, interleaved, new Body.Whole(assembly));
    }

    /**
     * Four pixels and channels, or five pixels and three channels, which are better if they fill rows and four do not.
     */
    private static List<BlockedSums> riscV(int width, boolean isSmall, boolean canPack) {
        int unroll = isSmall ? 1 : UNROLL;
        List<BlockedSums> all = new ArrayList<>();
        all.add(riscV(new BlockedAssembly.RiscV(4, 4, unroll, false, false)));
        all.add(width % 5 == 0 && width % 4 != 0 ? 0 : 1, riscV(new BlockedAssembly.RiscV(5, 3, unroll, false, false)));
        if (canPack) {
            all.add(0, riscV(new BlockedAssembly.RiscV(4, 4, unroll, true, false)));
        }
        if (!isSmall) {
            all.add(riscV(new BlockedAssembly.RiscV(4, 4, unroll, false, true)));
            all.add(riscV(new BlockedAssembly.RiscV(5, 3, unroll, false, true)));
        }
        return all;
    }

    private static BlockedSums riscV(BlockedAssembly.RiscV assembly) {
        String name = "kiln_sums_" + assembly.pixels() + "x" + assembly.channels()
                + BlockedSums.suffix(assembly.packed()) + (assembly.interleaved() ? "_interleaved" : "");
        return new BlockedSums(
                name,
                assembly.pixels(),
                assembly.channels(),
                false,
                assembly.packed(),
                assembly.interleaved(),
                new Body.Whole(assembly));
    }

    private static BlockedSums thumb1(BlockedAssembly.Thumb1 assembly) {
        return new BlockedSums(
                "kiln_sums_pair_x2" + BlockedSums.suffix(assembly.packed()),
                BlockedAssembly.Thumb1.SIZE,
                BlockedAssembly.Thumb1.SIZE,
                true,
                assembly.packed(),
                false,
                new Body.Whole(assembly));
    }

    private static BlockedSums loop(Intrinsic function, boolean packed) {
        return new BlockedSums(function.name(), 2, 4, false, packed, false, new Body.Loop(function));
    }
}
