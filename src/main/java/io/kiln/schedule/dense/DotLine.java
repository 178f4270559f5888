// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.lower.layer.Upsampling;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.Optional;

/**
 * Pixels of a row of the output that {@link DotConvSchedule} computes with one kernel, one at each position of the window: the whole row, or for a
 * transposed convolution, whose kernels take turns, those of a phase of the columns.
 *
 * @param phase of the columns
 */
record DotLine(ConvComputation conv, Row row, Expr phase) {
    /**
     * A row of the output.
     *
     * @param rows that are computed
     * @param n image of the batch
     * @param y row
     * @param ky the window's rows inside the input
     * @param runs how a kernel for whole windows reads them
     */
    record Row(Rows rows, Expr n, Expr y, TapRange ky, Optional<MveFloatWindows.Runs> runs) {}

    /** The window's rows inside the input. */
    TapRange ky() {
        return row.ky;
    }

    private Upsampling upsampling() {
        return conv.upsampling();
    }

    /** First position. */
    Expr begin() {
        return position(upsampling().padLeft());
    }

    /** Position behind the last one. */
    Expr end() {
        return position(upsampling().padLeft() + conv.output().dim(2));
    }

    /** First position whose pixel is not before a column, which is counted with those that are cropped. */
    private Expr position(int column) {
        int stride = upsampling().strideW();
        return column % stride == 0
                ? imm(column / stride)
                : Exprs.div(sub(imm(column + stride - 1), phase), imm(stride));
    }

    /** Number of the kernel. */
    Expr kernel() {
        Upsampling u = upsampling();
        return u.phases() == 1
                ? imm(0)
                : add(mul(Exprs.mod(add(row.y, u.padTop()), imm(u.strideH())), u.strideW()), phase);
    }

    /** First element of the output at a position. */
    Expr output(Expr position) {
        Upsampling u = upsampling();
        Expr x = add(mul(position, u.strideW()), sub(phase, imm(u.padLeft())));
        Expr line = add(mul(row.n, conv.output().dim(1)), row.rows.outputLine(row.y));
        return mul(add(mul(line, conv.output().dim(2)), x), conv.channels());
    }
}
