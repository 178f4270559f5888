// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.imm;

import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.type.Shape;
import io.kiln.lower.ElementLoops;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;

/** The sizes of a {@link TflBatchMatmul}'s matrices, and the loops over some of their columns at a time. */
record Matrices(FusedOperator op) {
    TflBatchMatmul root() {
        return (TflBatchMatmul) op.root().op();
    }

    private Shape shape(int argument) {
        return op.rootTypes().get(argument).shape();
    }

    /** Products that an element of the result accumulates. */
    int depth() {
        return root().depth(shape(0));
    }

    /** Whether an element of a matrix is less a zero point that is not 0. */
    boolean haveZeroPoints() {
        return op.root().constant(2).integer(0) != 0 || op.root().constant(3).integer(0) != 0;
    }

    int rows() {
        return op.type().shape().dim(-2);
    }

    int columns() {
        return op.type().shape().dim(-1);
    }

    /** Elements from a column of the second matrix to the next. */
    int columnStep() {
        return root().transposeB() ? depth() : 1;
    }

    /** Elements from a value of such a column to the next. */
    int step() {
        return root().transposeB() ? 1 : columns();
    }

    /** Columns taken at a time: about equally many, and a multiple unless that is more than there are. */
    int chunk(int most, int multiple) {
        int count = (columns() + most - 1) / most;
        return Math.min(columns(), padded((columns() + count - 1) / count, multiple));
    }

    static int padded(int some, int multiple) {
        return (some + multiple - 1) / multiple * multiple;
    }

    /** The first elements of the matrices. */
    record Place(Expr a, Expr b, Expr out) {}

    /** The code for some columns. */
    interface Columns {
        /**
         * Emits the products of some columns.
         *
         * @param first of the columns
         * @param count their number
         */
        void emit(BlockBuilder block, Place place, Expr first, int count);
    }

    /** The loops over all matrices, and over their columns. */
    BlockBuilder over(Rows range, int chunk, Columns some) {
        BlockBuilder body = new BlockBuilder();
        int batch = op.type().shape().rank() - 2;
        ElementLoops.over(body, op.type().shape(), range, batch, (block, indices, position) -> {
            List<Expr> first = new ArrayList<>(indices);
            first.addAll(List.of(imm(0), imm(0)));
            Place place = new Place(
                    block.let("a_first", ElementLoops.position(shape(0), first)),
                    block.let("b_first", ElementLoops.position(shape(1), first)),
                    block.let("out_first", position));
            int whole = columns() / chunk * chunk;
            block.loop("column", imm(0), imm(whole), chunk, (inner, j) -> some.emit(inner, place, j, chunk));
            block.loop("column", imm(whole), imm(columns()), chunk, (inner, j) -> {
                some.emit(inner, place, j, columns() - whole);
            });
        });
        return body;
    }
}
