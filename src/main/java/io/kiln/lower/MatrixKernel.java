// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import java.util.Optional;

/**
 * A micro-kernel of a core for a GEMM of int16 or float matrices: rows of one times some columns of the other, which are packed together
 * into a panel at run time: {@link #columns} at a time, {@link #step} values of each in turn, filled up with 0.
 */
public interface MatrixKernel {
    /** The kernels of a core. */
    @FunctionalInterface
    interface Set {
        /**
         * The kernel for a type of elements, if there is one.
         *
         * @param tables receives constants that the kernel needs
         */
        Optional<MatrixKernel> of(DType values, Tables tables);
    }

    /**
     * The products that a call computes.
     *
     * @param rows at most {@link MatrixKernel#rows}
     * @param blocks of columns
     * @param depth values of a row
     */
    record Tile(int rows, int blocks, int depth) {}

    /** Type of the accumulators: int64 of int16, float32 of float32. */
    DType sum();

    /** Most rows that a call multiplies. */
    int rows();

    /** Columns of a block. */
    int columns();

    /** Most columns of a panel, a multiple of {@link #columns}; it bounds the scratch. */
    int mostColumns();

    /** Values of a column that follow each other in the panel. */
    int step();

    /**
     * Emits a call of the micro-kernel.
     *
     * @param rows the values of adjacent rows
     * @param panel packed columns
     * @param sums receives the sums, row by row, of all columns of the blocks
     */
    void emit(BlockBuilder code, Tile tile, Buffer rows, Buffer panel, Buffer sums);
}
