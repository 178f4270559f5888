// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;

import io.kiln.base.DType;
import io.kiln.kernels.dense.Jtedsp_matrix_rowGenerated;
import io.kiln.lower.MatrixKernel;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/**
 * A row of int16 times blocks of columns, summed in 64 bits.
 *
 * @param kernel pointers: row, panel, sums; scalars: depth, blocks
 * @param columns of a block
 * @param step values of a column that follow each other
 */
record Int16Matrix(Kernel kernel, int columns, int step) implements MatrixKernel {
    private static final int MOST_COLUMNS = 16;

    /** By SMLALD. */
    static final Int16Matrix DSP = new Int16Matrix(
            new Kernel(
                    "kiln_matrix_row",
                    List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.out(INT64)),
                    List.of(INT32, INT32),
                    List.of(),
                    KernelSheet.text(Jtedsp_matrix_rowGenerated::render),
                    List.of()),
            4,
            2);

    /** By VMLALDAVA. */
    static final Int16Matrix MVE = new Int16Matrix(
            Kernel.inFile(
                    "dense/kiln_mve_matrix_row",
                    List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.out(INT64)),
                    List.of(INT32, INT32)),
            4,
            8);

    @Override
    public DType sum() {
        return INT64;
    }

    @Override
    public int rows() {
        return 1;
    }

    @Override
    public int mostColumns() {
        return MOST_COLUMNS;
    }

    @Override
    public void emit(BlockBuilder code, Tile tile, Buffer rows, Buffer panel, Buffer sums) {
        code.call(kernel, List.of(rows, panel, sums), List.of(Exprs.imm(tile.depth()), Exprs.imm(tile.blocks())));
    }
}
