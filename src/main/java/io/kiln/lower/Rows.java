// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.ir.type.Shape;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/**
 * The range of output rows that a lowered operator computes: all of them, or those that its caller names.
 *
 * @param begin first row
 * @param end row after the last
 * @param parameters the scalars by which the caller names them; empty for whole tensors
 */
public record Rows(Expr begin, Expr end, List<Expr.Var> parameters) {
    public Rows {
        parameters = List.copyOf(parameters);
    }

    /** All rows of a tensor. */
    public static Rows whole(Shape shape) {
        return new Rows(Exprs.imm(0), Exprs.imm(count(shape)), List.of());
    }

    /** Rows {@code [row_begin, row_end)} named by the caller. */
    public static Rows named() {
        Expr.Var begin = Exprs.var("row_begin");
        Expr.Var end = Exprs.var("row_end");
        return new Rows(begin, end, List.of(begin, end));
    }

    /** First line of an NHWC output to compute: of the range, or the whole height where the batch makes one row. */
    public Expr firstLine(Shape output) {
        return output.dim(0) == 1 ? begin : Exprs.imm(0);
    }

    /** Line after the last one to compute. */
    public Expr endLine(Shape output) {
        return output.dim(0) == 1 ? end : Exprs.imm(output.dim(1));
    }

    /** Rows of a tensor: its height if it is NHWC of batch 1, else 1. */
    public static int count(Shape shape) {
        return shape.rank() == 4 && shape.dim(0) == 1 ? shape.dim(1) : 1;
    }
}
