// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;

/**
 * A micro-kernel of a core for a GEMM of int8 whose second matrix is known only at run time: some of its columns are packed
 * together into a panel, with the initial values of their accumulators, which then meets one row of the first matrix after the
 * other.
 */
public interface PanelSums {
    /** The columns of a panel are a multiple of this. */
    int columns();

    /** Bytes that a column takes in a panel. */
    int bytes(int depth);

    /** The factor of all accumulators: 1, or 2 where a core's requantization expects doubled ones. */
    default int scale() {
        return 1;
    }

    /** Whether values in a panel are less their zero point; otherwise the accumulators leave out {@code zeroPoint * sum of the row}. */
    default boolean areCentred() {
        return false;
    }

    /**
     * Columns of a matrix.
     *
     * @param depth values of a column
     * @param count number of columns
     * @param columnStep elements from a column to the next
     * @param step elements from a column's value to the next
     * @param zeroPoint of the columns' values
     * @param rowZeroPoint of the values that they are multiplied by, which is part of the sums' initial values
     */
    record Columns(int depth, int count, int columnStep, int step, int zeroPoint, int rowZeroPoint) {}

    /** Emits the packing of columns, of which the first begins where the pointer does. */
    void pack(BlockBuilder code, Columns columns, Buffer values, Buffer panel);

    /** Emits the dot products of a panel's columns, the rows of a block, with the values at a place. */
    void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums);
}
