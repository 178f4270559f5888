// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.base.DType;
import io.kiln.lower.MatrixKernel;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.stream.IntStream;

/** Products of float matrices by {@link MveFloatKernel}: rows are pixels, and columns channels. */
record MveFloatMatrix() implements MatrixKernel {
    private static final MveFloatKernel KERNEL = new MveFloatKernel(3, 2);

    @Override
    public DType sum() {
        return DType.FLOAT32;
    }

    @Override
    public int rows() {
        return KERNEL.pixels();
    }

    @Override
    public int columns() {
        return KERNEL.channels();
    }

    @Override
    public int mostColumns() {
        return KERNEL.channels();
    }

    @Override
    public int step() {
        return KERNEL.step();
    }

    @Override
    public void emit(BlockBuilder code, Tile tile, Buffer rows, Buffer panel, Buffer sums) {
        code.loop("s", (long) tile.rows() * columns(), (each, s) -> each.store(sums, s, Exprs.imm(0f)));
        List<Buffer> inputs = IntStream.range(0, tile.rows())
                .mapToObj(r -> code.view("row" + r, rows, Exprs.imm((long) r * tile.depth())))
                .toList();
        KERNEL.call(code, inputs, panel, sums, Exprs.imm(tile.depth()));
    }
}
