// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;

/** The boxes that make up the output of an operator that only copies; none overlap, some may be empty. */
final class Boxes {
    private Boxes() {}

    static List<Box> transposed(Transpose op, List<TensorType> args, Shape out) {
        List<Long> strides = Box.strides(args.get(0).shape());
        return List.of(Box.whole(out, 0, op.axes().stream().map(strides::get).toList()));
    }

    static List<Box> slice(StridedSlice slice, List<TensorType> args, Shape out) {
        Shape data = args.get(0).shape();
        List<Long> own = Box.strides(data);
        List<Long> strides = new ArrayList<>();
        long offset = 0;
        for (int axis = 0; axis < data.rank(); axis++) {
            offset += slice.first(data, axis) * own.get(axis);
            strides.add(slice.strides().get(axis) * own.get(axis));
        }
        return List.of(Box.whole(out, offset, strides));
    }

    static List<Box> broadcast(BroadcastTo op, List<TensorType> args, Shape out) {
        Shape data = args.get(0).shape();
        List<Long> own = Box.strides(data);
        List<Long> strides = new ArrayList<>();
        int missing = out.rank() - data.rank();
        for (int axis = 0; axis < out.rank(); axis++) {
            boolean repeats = axis < missing || data.dim(axis - missing) == 1;
            strides.add(repeats ? 0 : own.get(axis - missing));
        }
        return List.of(Box.whole(out, 0, strides));
    }

    static List<Box> parts(Concatenate op, List<TensorType> args, Shape out) {
        List<Box> boxes = new ArrayList<>();
        int at = 0;
        for (int i = 0; i < args.size(); i++) {
            Shape part = args.get(i).shape();
            List<Integer> begin = new ArrayList<>(Box.zeros(part.rank()));
            begin.set(op.axis(), at);
            boxes.add(new Box(i, begin, part.dims(), 0, Box.strides(part)));
            at += part.dim(op.axis());
        }
        return boxes;
    }

    /** The boxes of a padded tensor: the data, and the padding before and after it along each dimension, without what earlier dimensions cover. */
    static List<Box> padded(Pad pad, List<TensorType> args, Shape out) {
        Shape data = args.get(0).shape();
        List<Box> boxes = new ArrayList<>();
        List<Long> still =
                Box.zeros(out.rank()).stream().map(Integer::longValue).toList();
        List<Integer> begin = new ArrayList<>(Box.zeros(out.rank()));
        List<Integer> size = new ArrayList<>(out.dims());
        for (int axis = 0; axis < out.rank(); axis++) {
            int before = pad.before().get(axis);
            size.set(axis, before);
            boxes.add(new Box(1, begin, size, 0, still));
            begin.set(axis, before + data.dim(axis));
            size.set(axis, pad.after().get(axis));
            boxes.add(new Box(1, begin, size, 0, still));
            begin.set(axis, before);
            size.set(axis, data.dim(axis));
        }
        boxes.add(new Box(0, begin, size, 0, Box.strides(data)));
        return boxes;
    }

    /**
     * The loops that copy one box: merged as far as distances allow, the rows of the range outermost, and contiguous runs
     * by {@code memcpy} if they are long enough for its call.
     */
    static final class BoxLoops {
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
            block.loop("y", from, until, (row, y) -> {
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

    /**
     * A part of an output whose elements are at regular distances in one argument: the element at indices {@code begin + i}
     * is the argument's element {@code offset + sum(strides * i)}.
     *
     * @param argument index of the argument
     * @param begin first index along each dimension of the output
     * @param size elements along each dimension
     * @param offset of the argument's element for the box's first
     * @param strides distance in the argument between neighbours along each dimension; 0 if an element is repeated
     */
    record Box(int argument, List<Integer> begin, List<Integer> size, long offset, List<Long> strides) {
        Box {
            begin = List.copyOf(begin);
            size = List.copyOf(size);
            strides = List.copyOf(strides);
        }

        /** A box that is the whole output. */
        static Box whole(Shape output, long offset, List<Long> strides) {
            return new Box(0, zeros(output.rank()), output.dims(), offset, strides);
        }

        static List<Integer> zeros(int rank) {
            List<Integer> zeros = new ArrayList<>();
            for (int i = 0; i < rank; i++) {
                zeros.add(0);
            }
            return zeros;
        }

        /** Elements between neighbours along each dimension of a row-major tensor. */
        static List<Long> strides(Shape shape) {
            List<Long> strides = new ArrayList<>();
            long stride = 1;
            for (int axis = shape.rank() - 1; axis >= 0; axis--) {
                strides.add(0, stride);
                stride *= shape.dim(axis);
            }
            return strides;
        }

        boolean isEmpty() {
            return size.contains(0);
        }
    }
}
