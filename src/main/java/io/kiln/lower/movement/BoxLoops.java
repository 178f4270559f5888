// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.type.Shape;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;

/**
 * The loops that copy one box: merged as far as distances allow, the rows of the range outermost, and contiguous runs
 * by {@code memcpy} if they are long enough for its call.
 */
final class BoxLoops {
    private static final int LEAST_RUN = 16;

    private final Box box;
    private final Shape out;
    private final Source source;
    private final Buffer output;

    /** A dimension of the loops: the distance of neighbours in source and output. */
    private record Level(int size, long to, long from) {
        /** Whether this level continues where the inner one ends, in both. */
        boolean continues(Level inner) {
            return to == inner.to * inner.size && from == inner.from * inner.size;
        }
    }

    /** The source of the elements. */
    sealed interface Source {
        /** A source that is one value for all elements. */
        record Value(Expr value) implements Source {}

        /**
         * A source that is an argument of the operator.
         *
         * @param rowElements elements of one of its rows, if its rows are the output's by some step; else 0
         * @param input number among the operator's inputs; -1 for a constant
         */
        record Argument(Buffer buffer, long rowElements, int input) implements Source {}
    }

    BoxLoops(Box box, Shape out, Source source, Buffer output) {
        this.box = box;
        this.out = out;
        this.source = source;
        this.output = output;
    }

    void emit(BlockBuilder block, Rows rows) {
        List<Long> strides = Box.strides(out);
        long to = 0;
        for (int axis = 0; axis < out.rank(); axis++) {
            to += strides.get(axis) * box.begin().get(axis);
        }
        boolean wholly = rows.parameters().isEmpty() && rows.areContiguous();
        if (wholly || Rows.count(out) == 1) {
            levels(block, 0, imm(to), imm(box.offset()));
            return;
        }
        long inRow = to - strides.get(1) * box.begin().get(1);
        int first = box.begin().get(1);
        int end = first + box.size().get(1);
        Expr from = first == 0 ? rows.begin() : Exprs.max(rows.begin(), imm(first));
        Expr until = end == out.dim(1) ? rows.end() : Exprs.min(rows.end(), imm(end));
        block.loop("y", from, until, 1, (row, y) -> {
            Expr target = row.let("to", add(mul(rows.outputLine(y), strides.get(1)), imm(inRow)));
            levels(row, 2, target, sourceOfRow(row, rows, y));
        });
    }

    /** Where the source's elements for a row begin. */
    private Expr sourceOfRow(BlockBuilder block, Rows rows, Expr y) {
        Expr index = Exprs.sub(y, imm(box.begin().get(1)));
        if (!(source instanceof Source.Argument argument) || argument.rowElements() == 0 || argument.input() < 0) {
            return block.let("from", add(mul(index, box.strides().get(1)), imm(box.offset())));
        }
        long rowElements = argument.rowElements();
        long step = box.strides().get(1) / rowElements;
        Expr row = add(mul(index, step), imm(box.offset() / rowElements));
        Expr line = rows.inputLine(argument.input(), row);
        return block.let("from", add(mul(line, rowElements), imm(box.offset() % rowElements)));
    }

    /** Emits the loops over the dimensions from a first one inwards. */
    private void levels(BlockBuilder block, int firstAxis, Expr to, Expr from) {
        List<Long> strides = Box.strides(out);
        List<Level> levels = new ArrayList<>();
        for (int axis = out.rank() - 1; axis >= firstAxis; axis--) {
            Level level = new Level(
                    box.size().get(axis), strides.get(axis), box.strides().get(axis));
            if (level.size == 1) {
                continue;
            }
            if (!levels.isEmpty() && level.continues(levels.get(0))) {
                Level inner = levels.remove(0);
                level = new Level(level.size * inner.size, inner.to, inner.from);
            }
            levels.add(0, level);
        }
        nest(block, levels, to, from);
    }

    private void nest(BlockBuilder block, List<Level> levels, Expr to, Expr from) {
        if (levels.isEmpty()) {
            block.store(output, to, value(from));
            return;
        }
        Level level = levels.get(0);
        if (levels.size() == 1 && isRun(level)) {
            Buffer source = ((Source.Argument) this.source).buffer();
            Buffer target = block.mutableView("target", output, to);
            Buffer run = block.view("run", source, from);
            block.add(new Stmt.Copy(
                    target, run, (long) level.size * output.dtype().bytes()));
            return;
        }
        block.loop(
                "i" + levels.size(),
                level.size,
                (inner, i) -> nest(
                        inner,
                        levels.subList(1, levels.size()),
                        add(to, mul(i, level.to)),
                        add(from, mul(i, level.from))));
    }

    private boolean isRun(Level level) {
        return source instanceof Source.Argument
                && level.to == 1
                && level.from == 1
                && level.size * output.dtype().bytes() >= LEAST_RUN;
    }

    private Expr value(Expr from) {
        return source instanceof Source.Value constant
                ? constant.value()
                : load(((Source.Argument) source).buffer(), from);
    }
}
