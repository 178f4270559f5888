// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.lower.SumKernels;
import io.kiln.lower.SumKernels.WordRequantizer;
import io.kiln.lower.Tables;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import java.util.Optional;

/**
 * {@link SumKernels} of cores without SIMD: blocks of rows by {@link SumsKernel}; sums are rescaled one by one, by the shortest instructions
 * that are proven for their multiplier.
 */
public record BlockedSumKernels(CpuFeatures features) implements SumKernels {
    /** Columns of the ring that are summed together. */
    private static final int COLUMNS = 4;

    private static final Kernel RING = Kernel.inFile(
            "portable/kiln_ring_columns",
            List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.in(INT32), Pointer.out(INT32)),
            List.of(INT32, INT32, INT32));

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
        code.call(
                RING,
                List.of(state, ring.weights(), ring.begin(), sums),
                List.of(Exprs.imm(ring.columns()), ring.oldest(), Exprs.imm(ring.rows())));
    }
}
