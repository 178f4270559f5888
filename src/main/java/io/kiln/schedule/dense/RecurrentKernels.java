// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.ir.Group;
import io.kiln.kernels.recurrent.Jtedsp_columnsGenerated;
import io.kiln.kernels.recurrent.Jtedsp_requantizeGenerated;
import io.kiln.kernels.recurrent.Jtemve_requantizeGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.SumKernels;
import io.kiln.lower.SumKernels.WordRequantizer;
import io.kiln.lower.Tables;
import io.kiln.schedule.convolution.BlockedPanelSums;
import io.kiln.schedule.convolution.SumsKernel;
import io.kiln.schedule.parts.BlockDots;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The micro-kernels for stateful layers, by core. */
public final class RecurrentKernels {
    private RecurrentKernels() {}

    /** The core's kernels, if it has some. */
    public static Optional<SumKernels> of(CpuFeatures features) {
        if (features.hasDsp()) {
            return Optional.of(features.hasMve() ? new MveSumKernels() : new DspSumKernels());
        }
        return BlockedPanelSums.isThere(features) ? Optional.of(new BlockedSumKernels(features)) : Optional.empty();
    }

    private static Kernel ofRing(String file) {
        return Kernel.inFile(file, Pointer.lastWritten(INT16, INT16, INT32, INT32), List.of(INT32, INT32, INT32));
    }

    private static void sum(BlockBuilder code, Kernel kernel, SumKernels.Ring ring, Buffer state, Buffer sums) {
        code.call(
                kernel,
                List.of(state, ring.weights(), ring.begin(), sums),
                List.of(Exprs.imm(ring.columns()), ring.oldest(), Exprs.imm(ring.rows())));
    }

    /**
     * {@link SumKernels} of cores without SIMD: blocks of rows by {@link SumsKernel}; sums are rescaled one by one, by the shortest instructions
     * that are proven for their multiplier.
     */
    private record BlockedSumKernels(CpuFeatures features) implements SumKernels {
        /** Columns of the ring that are summed together. */
        private static final int COLUMNS = 4;

        private static final Kernel RING = ofRing("portable/kiln_ring_columns");

        @Override
        public Optional<Dots> dots(long bound, long least) {
            return bound <= Integer.MAX_VALUE ? Optional.of(BlockedPanelSums.of(features)) : Optional.empty();
        }

        @Override
        public Requantizer rescaler(Group group, Tables tables, String name) {
            return new WordRequantizer(group, false);
        }

        @Override
        public Dots wideDots() {
            return BlockedPanelSums.of(features, INT16);
        }

        @Override
        public boolean takesColumns(int columns) {
            return true;
        }

        @Override
        public int paddedColumns(int columns) {
            return columns;
        }

        @Override
        public int columnsOfBlock(int columns, int first) {
            return columns - first < COLUMNS ? 1 : COLUMNS;
        }

        @Override
        public void columns(BlockBuilder code, Ring ring, Buffer state, Buffer sums) {
            sum(code, RING, ring, state, sums);
        }
    }

    /** {@link SumKernels} by MVE: 16 products of bytes or 8 of int16 at a time, four sums rescaled together. */
    private record MveSumKernels() implements SumKernels {
        private static final int COLUMNS = 8;

        private static final Kernel RING = ofRing("recurrent/kiln_mve_columns");

        private static final Kernel SHORT_SUMS = PanelKernels.MveSums.kernel("kiln_mve_short_sums", INT16);

        @Override
        public Optional<Dots> dots(long bound, long least) {
            return bound <= Integer.MAX_VALUE ? Optional.of(new PanelKernels.MveSums()) : Optional.empty();
        }

        @Override
        public Requantizer rescaler(Group group, Tables tables, String name) {
            Buffer by = tables.add(name, INT32, SumKernels.multipliers(group.by()));
            return (code, count, sums, results) -> code.call(
                    kernel(group),
                    List.of(sums, by, results),
                    List.of(Exprs.imm(group.by().size()), Exprs.imm(count), Exprs.imm(group.zeroPoint())));
        }

        private static Kernel kernel(Group group) {
            String name = "kiln_mve_rescale_" + group.result().name().toLowerCase(Locale.ROOT);
            boolean isByte = group.result() == Result.BYTE;
            return Kernel.of(
                    name,
                    List.of(Pointer.in(INT32), Pointer.in(INT32), Pointer.out(isByte ? INT8 : INT16)),
                    3,
                    (out, html) -> Jtemve_requantizeGenerated.render(out, html, name, group.result()));
        }

        @Override
        public Dots wideDots() {
            return new BlockDots(SHORT_SUMS, INT8, 4, 8);
        }

        @Override
        public boolean takesColumns(int columns) {
            return true;
        }

        @Override
        public int paddedColumns(int columns) {
            return (columns + COLUMNS - 1) / COLUMNS * COLUMNS;
        }

        @Override
        public int columnsOfBlock(int columns, int first) {
            return COLUMNS;
        }

        @Override
        public void columns(BlockBuilder code, Ring ring, Buffer state, Buffer sums) {
            sum(code, RING, ring, state, sums);
        }
    }

    /**
     * {@link SumKernels} by Arm's DSP instructions. {@link Sums#DOTS} are twice the sums, of which SMMULR makes the rounded product.
     */
    private record DspSumKernels() implements SumKernels {
        /** The distance of rows is an immediate of 12 bits. */
        private static final int MOST_COLUMNS = 2000;

        /** Most columns of a block. */
        private static final int WIDEST = 8;

        /** Most pairs of sums rescaled in an iteration of a loop. */
        private static final int MOST_UNROLLED = 4;

        private static final Kernel SHORT_SUMS = Kernel.inFile(
                "dense/kiln_short_sums_pairs",
                Pointer.lastWritten(INT16, INT8, INT32),
                List.of(INT32, INT32),
                Intrinsics.SMLAD);

        /** {@code 256 * a + b} of two sums stays within 32 bits. */
        private static final long MOST_PAIRED = Integer.MAX_VALUE / 257;

        /** Sums are doubled. */
        @Override
        public Optional<Dots> dots(long bound, long least) {
            return bound <= Integer.MAX_VALUE / 2
                    ? Optional.of(new DspSums(
                            bound <= MOST_PAIRED && least > DType.INT8.min()
                                    ? DspSums.Form.PAIRED
                                    : DspSums.Form.BYTES))
                    : Optional.empty();
        }

        @Override
        public boolean doublesDots() {
            return true;
        }

        @Override
        public Requantizer rescaler(Group group, Tables tables, String name) {
            Buffer by = tables.add(name, INT32, SumKernels.multipliers(group.by()));
            return (code, count, sums, results) -> code.call(
                    kernel(group, count),
                    List.of(sums, by, results),
                    List.of(Exprs.imm(group.by().size()), Exprs.imm(count), Exprs.imm(group.zeroPoint())));
        }

        private static Kernel kernel(Group group, int count) {
            int pairs = unrolled(count);
            String name = "kiln_rescale_" + group.source().name().toLowerCase(Locale.ROOT) + "_"
                    + group.result().name().toLowerCase(Locale.ROOT) + (pairs > 1 ? "_" + 2 * pairs : "");
            boolean isByte = group.result() == Result.BYTE;
            String definition = KernelSheet.text((out, html) ->
                    Jtedsp_requantizeGenerated.render(out, html, name, group.source(), group.result(), pairs));
            return Kernel.of(
                    name,
                    List.of(Pointer.in(INT32), Pointer.in(INT32), Pointer.out(isByte ? INT8 : INT16)),
                    3,
                    definition);
        }

        @Override
        public Dots wideDots() {
            return new BlockDots(SHORT_SUMS, INT16, 4, 2);
        }

        /** Pairs in an iteration: as many as divide the sums. */
        private static int unrolled(int count) {
            int pairs = MOST_UNROLLED;
            while (pairs > 1 && count % (2 * pairs) != 0) {
                pairs--;
            }
            return pairs;
        }

        /** Pairs of columns are loaded as words. */
        @Override
        public boolean takesColumns(int columns) {
            return columns % 2 == 0 && columns <= MOST_COLUMNS;
        }

        @Override
        public int paddedColumns(int columns) {
            return columns;
        }

        @Override
        public int columnsOfBlock(int columns, int first) {
            return width(columns);
        }

        @Override
        public void columns(BlockBuilder code, Ring ring, Buffer state, Buffer sums) {
            code.call(
                    columns(ring.columns()),
                    List.of(state, ring.weights(), ring.begin(), sums),
                    List.of(ring.oldest(), Exprs.imm(ring.rows())));
        }

        /** Columns of a block for an even number of columns. */
        private static int width(int columns) {
            return columns % WIDEST == 0 ? WIDEST : columns % 4 == 0 ? 4 : 2;
        }

        /** Sums down the columns of a ring of rows. */
        private static Kernel columns(int columns) {
            String name = "kiln_columns_" + columns;
            return Kernel.of(
                    name,
                    Pointer.lastWritten(INT16, INT16, INT32, INT32),
                    2,
                    (out, html) -> Jtedsp_columnsGenerated.render(out, html, name, columns, width(columns)));
        }
    }
}
