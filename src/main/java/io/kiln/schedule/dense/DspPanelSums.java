// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.lower.PanelSums;
import io.kiln.lower.SumKernels;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.Collections;
import java.util.List;

/** {@link PanelSums} by Arm's DSP instructions: columns less their zero point, widened to 16 bits, by {@link DspSums}. */
record DspPanelSums() implements PanelSums {
    private static final DspSums SUMS = new DspSums(DspSums.Form.WIDE);

    private static final Kernel PACK = Kernel.inFile(
            "dense/kiln_pack_wide", List.of(Pointer.in(INT8), Pointer.out(INT8)), Collections.nCopies(6, INT32));

    @Override
    public int columns() {
        return SUMS.rows();
    }

    @Override
    public int bytes(int depth) {
        return SUMS.bytes(depth);
    }

    @Override
    public int scale() {
        return 2;
    }

    @Override
    public boolean areCentred() {
        return true;
    }

    @Override
    public void pack(BlockBuilder code, Columns columns, Buffer values, Buffer panel) {
        code.call(
                PACK,
                List.of(values, panel),
                List.of(
                        Exprs.imm(columns.depth()),
                        Exprs.imm(columns.count()),
                        Exprs.imm(columns.columnStep()),
                        Exprs.imm(columns.step()),
                        Exprs.imm(columns.zeroPoint()),
                        Exprs.imm(-columns.rowZeroPoint())));
    }

    @Override
    public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
        SUMS.emit(code, block, values, from, sums);
    }
}
