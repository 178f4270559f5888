// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.PaddedRows;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.ConvTask;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the kernels of {@link DotConvSchedule} read: rows of the layer's input, or copies of them with their padding.
 *
 * @param conv the layer
 * @param input its input
 * @param padded the copies
 */
record DotInputs(ConvComputation conv, Buffer input, Optional<PaddedRows> padded) {
    /** Reserves scratch for the copies, if there are any. */
    static DotInputs of(ConvTask task, DotKernel kernel) {
        ConvComputation conv = task.conv();
        Buffer input = task.buffers().argument(0);
        if (!areCopied(conv, kernel)) {
            return new DotInputs(conv, input, Optional.empty());
        }
        Buffer scratch = task.buffers().scratch(conv.dataType(), PaddedRows.elements(conv));
        return new DotInputs(
                conv, input, Optional.of(new PaddedRows(conv, input, scratch, WordMoves.of(task.features()))));
    }

    /**
     * Whether rows are copied with their padding; otherwise runs are clipped at the input's border, as those of a transposed convolution, in
     * which most of a window may lie beside the input.
     */
    static boolean areCopied(ConvComputation conv, DotKernel kernel) {
        return conv.window().isPadded() && kernel.step() > 1 && !conv.isTransposed();
    }

    boolean areCopied() {
        return padded.isPresent();
    }

    /** Emits the padding beside the rows. */
    void fillSides(BlockBuilder block) {
        padded.ifPresent(rows -> rows.fillSides(block));
    }

    /** Emits the copies for a row of the output. */
    void copy(BlockBuilder row, Rows rows, Expr n, Expr y) {
        padded.ifPresent(copies -> copies.copy(row, rows, n, y));
    }

    /** Elements from a row of the window to the next one. */
    int rowDistance() {
        return areCopied()
                ? Math.toIntExact(PaddedRows.rowElements(conv))
                : conv.window().dilationH() * conv.input().dim(2) * conv.input().dim(3);
    }

    /** Rows of the window that are read for a row of the output. */
    TapRange rows(BlockBuilder row, Expr y) {
        if (areCopied()) {
            int taps = conv.window().kernelH();
            return new TapRange(imm(0), imm(0), imm(taps), taps);
        }
        Expr position =
                conv.isTransposed() ? row.let("position_y", conv.upsampling().row(y)) : y;
        return TapRange.of(row, "y", position, TapRange.Axis.rows(conv.window(), conv.input()));
    }

    /** Position of the first channel in a row of the window and a column of the input. */
    Expr position(DotLine.Row row, Expr ky, Expr column) {
        return mul(add(rowStart(row, ky), column), conv.channelsPerGroup());
    }

    /** Pixels before those under a row of the window. */
    private Expr rowStart(DotLine.Row row, Expr ky) {
        if (areCopied()) {
            return mul(ky, PaddedRows.rowElements(conv) / conv.input().dim(3));
        }
        Expr line = row.rows()
                .inputLine(0, add(row.ky().origin(), mul(ky, conv.window().dilationH())));
        return mul(add(mul(row.n(), conv.input().dim(1)), line), conv.input().dim(2));
    }

    /** The element at a position. */
    Buffer view(BlockBuilder block, String name, Expr position) {
        return block.view(name, padded.map(PaddedRows::scratch).orElse(input), position);
    }

    /** The elements of neighbouring pixels, of which the first one's is at a position. */
    List<Buffer> views(BlockBuilder block, int pixels, Expr first) {
        List<Buffer> views = new ArrayList<>();
        for (int p = 0; p < pixels; p++) {
            long step = (long) p * conv.window().strideW() * conv.channelsPerGroup();
            views.add(view(block, "in" + p, add(first, step)));
        }
        return views;
    }
}
