// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.base.DType;
import io.kiln.kernels.dense.Jtepack_panelGenerated;
import io.kiln.lower.PanelSums;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;

/**
 * How {@link PanelSums} lie in memory: the initial values of a block of columns, then some values of each column in turn.
 *
 * @param columns columns of a block
 * @param step values of a column that follow each other
 * @param columnOffset C expression of the place of a column in a step
 * @param offset C expression of the place of value {@code i} of a step behind that
 * @param weight C expression of what is stored for a {@code value}
 */
public record PanelPacking(int columns, int step, String columnOffset, String offset, String weight) {
    /** Bytes of a column: its initial value and its values. */
    public int bytes(int depth) {
        return Integer.BYTES + (depth + step - 1) / step * step;
    }

    /** Emits the packing of columns as they are. */
    public void emit(BlockBuilder code, PanelSums.Columns of, Buffer values, Buffer panel) {
        String name = "kiln_pack_panel_" + columns + "x" + step;
        Kernel kernel = Kernel.of(
                name,
                Pointer.lastWritten(DType.INT8, DType.INT8),
                6,
                (out, html) -> Jtepack_panelGenerated.render(out, html, name, this));
        code.call(
                kernel,
                List.of(values, panel),
                List.of(
                        Exprs.imm(of.depth()),
                        Exprs.imm(of.count()),
                        Exprs.imm(of.columnStep()),
                        Exprs.imm(of.step()),
                        Exprs.imm((long) of.depth() * of.zeroPoint() * of.rowZeroPoint()),
                        Exprs.imm(-of.rowZeroPoint())));
    }
}
