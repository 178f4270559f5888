// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Loops over the elements of an output, dimension by dimension, for the requested range of rows: for operators whose
 * elements come from other positions of the input.
 */
public final class ElementLoops {
    /** Emits the computation of one output element. */
    @FunctionalInterface
    public interface Body {
        /**
         * Emits statements into the innermost loop.
         *
         * @param indices the element's indices, one per dimension
         * @param position in the output's buffer
         */
        void emit(BlockBuilder block, List<Expr> indices, Expr position);
    }

    private ElementLoops() {}

    /** Emits loops over the elements of the output in a range of rows, with the body for each element. */
    public static void over(BlockBuilder block, Shape output, Rows rows, Body body) {
        over(block, output, rows, output.rank(), body);
    }

    /**
     * Emits the loops over the first dimensions; the body's position is that of the first element behind them.
     *
     * @param axes number of dimensions; at least the rows are among them, if there are several
     */
    public static void over(BlockBuilder block, Shape output, Rows rows, int axes, Body body) {
        nest(block, new Nest(output, rows, axes, body), new ArrayList<>());
    }

    private record Nest(Shape output, Rows rows, int axes, Body body) {}

    private static void nest(BlockBuilder block, Nest nest, List<Expr> indices) {
        int axis = indices.size();
        Shape output = nest.output;
        Rows rows = nest.rows;
        if (axis == nest.axes) {
            List<Expr> lines = new ArrayList<>(indices);
            if (Rows.count(output) > 1) {
                lines.set(1, rows.outputLine(indices.get(1)));
            }
            lines.addAll(Collections.nCopies(output.rank() - axis, imm(0)));
            nest.body.emit(block, List.copyOf(indices), position(output, lines));
            return;
        }
        boolean byRows = axis == 1 && Rows.count(output) > 1;
        Expr begin = byRows ? rows.begin() : imm(0);
        Expr end = byRows ? rows.end() : imm(output.dim(axis));
        block.loop("i" + axis, begin, end, (inner, index) -> {
            List<Expr> more = new ArrayList<>(indices);
            more.add(index);
            nest(inner, nest, more);
        });
    }

    /**
     * Row-major position of an element.
     *
     * @param indices aligned with the last dimension, of which there may be more than the shape has; dimensions of 1 repeat
     */
    public static Expr position(Shape shape, List<Expr> indices) {
        Expr position = imm(0);
        for (int i = 0; i < shape.rank(); i++) {
            Expr index = shape.dim(i) == 1 ? imm(0) : indices.get(indices.size() - shape.rank() + i);
            position = add(mul(position, shape.dim(i)), index);
        }
        return position;
    }
}
