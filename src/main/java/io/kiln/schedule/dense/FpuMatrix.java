// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.imm;

import io.kiln.base.DType;
import io.kiln.lower.MatrixKernel;
import io.kiln.lower.Tables;
import io.kiln.schedule.convolution.FpuBlocks;
import io.kiln.schedule.convolution.FpuConvKernel;
import io.kiln.schedule.convolution.FpuLimits;
import io.kiln.schedule.parts.WindowRows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import java.util.List;

/** Products of float matrices by {@link FpuConvKernel}: rows are pixels, and columns channels without a bias. */
final class FpuMatrix implements MatrixKernel {
    private static final int ROWS = 4;
    private static final int COLUMNS = 4;
    private static final int MOST_COLUMNS = 8;

    private final Buffer biases;

    /** Adds the biases, which are 0. */
    FpuMatrix(Tables tables) {
        this.biases = tables.add("zeros", new float[MOST_COLUMNS]);
    }

    @Override
    public DType sum() {
        return DType.FLOAT32;
    }

    @Override
    public int rows() {
        return ROWS;
    }

    @Override
    public int columns() {
        return COLUMNS;
    }

    @Override
    public int mostColumns() {
        return MOST_COLUMNS;
    }

    @Override
    public int step() {
        return 1;
    }

    @Override
    public void emit(BlockBuilder code, Tile tile, Buffer rows, Buffer panel, Buffer sums) {
        code.call(
                new FpuConvKernel(new FpuBlocks(tile.rows(), COLUMNS, 2, 0), FpuLimits.NONE).kernel(),
                List.of(rows, panel, biases, sums),
                List.of(
                        imm(tile.depth()),
                        imm((long) tile.blocks() * COLUMNS),
                        imm(1),
                        imm(WindowRows.NEVER),
                        imm(tile.depth()),
                        imm(0),
                        imm(0),
                        imm(0),
                        imm(0),
                        imm(tile.blocks()),
                        imm(1)));
    }
}
