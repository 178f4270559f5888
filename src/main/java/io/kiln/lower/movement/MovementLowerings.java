// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.movement.Updates.ScatterNd;
import io.kiln.ir.op.movement.Updates.TflDynamicUpdateSlice;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.ElementLoops;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RootLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.movement.Boxes.Box;
import io.kiln.lower.movement.Boxes.BoxLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lowerings of the operators that copy elements. */
public final class MovementLowerings {
    private static final int UPDATES = 2;

    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            boxes(Transpose.class, Boxes::transposed),
            boxes(StridedSlice.class, Boxes::slice),
            boxes(BroadcastTo.class, Boxes::broadcast),
            boxes(Pad.class, Boxes::padded),
            boxes(Concatenate.class, Boxes::parts),
            simple(Take.class, MovementLowerings::take),
            simple(ScatterNd.class, MovementLowerings::lower),
            simple(TflDynamicUpdateSlice.class, (op, rows) -> new UpdateSliceLowering(op).lower(rows)));

    private MovementLowerings() {}

    /** The boxes that make up the output of an operator; none overlap. */
    private interface BoxRule<O extends Op> {
        List<Box> of(O op, List<TensorType> args, Shape out);
    }

    private static <O extends Op> Map.Entry<Class<? extends Op>, OperatorLowering<Op>> boxes(
            Class<O> root, BoxRule<O> rule) {
        return entry(root, (op, movement, rows, context) -> {
            List<Box> boxes = rule.of(movement, op.rootTypes(), op.type().shape());
            return new MovementLowering(
                            op, boxes.stream().filter(box -> !box.isEmpty()).toList())
                    .lower(rows);
        });
    }

    /**
     * Operators that only copy: one nest of loops for each box of the output. Rows depend on single rows if they correspond
     * by a forward step, as when channels are concatenated or rows are cropped.
     */
    private static final class MovementLowering extends RootLowering {
        private final Shape out;
        private final List<Integer> inputs;
        private final List<Box> boxes;
        private final Map<Integer, Buffer> arguments = new HashMap<>();

        MovementLowering(FusedOperator op, List<Box> boxes) {
            super(op);
            this.out = op.type().shape();
            this.inputs = op.inputs();
            this.boxes = List.copyOf(boxes);
        }

        LoweredOperator lower(Rows rows) {
            List<RowDependency> dependencies =
                    inputs.stream().map(this::dependency).toList();
            BlockBuilder body = new BlockBuilder();
            for (Box box : boxes) {
                BlockBuilder nest = new BlockBuilder();
                new BoxLoops(box, out, source(box), buffers.output()).emit(nest, rows);
                addTo(body, nest.build());
            }
            return Nests.operator(buffers, rows, dependencies, body.build(), "copy");
        }

        /** Adds the loops directly, or as a separate block if they declare names. */
        private static void addTo(BlockBuilder body, Stmt.Block nest) {
            boolean declares = nest.statements().stream()
                    .anyMatch(stmt -> stmt instanceof Stmt.Declare || stmt instanceof Stmt.DeclareView);
            if (declares) {
                body.add(nest);
            } else {
                nest.statements().forEach(body::add);
            }
        }

        private BoxLoops.Source source(Box box) {
            Arg arg = op.root().args().get(box.argument());
            if (arg instanceof Constant constant && constant.elements() == 1) {
                return new BoxLoops.Source.Value(literal(constant));
            }
            int input = arg instanceof Arg.Ref ref ? inputs.indexOf(ref.id()) : -1;
            Buffer buffer = arguments.computeIfAbsent(box.argument(), buffers::argument);
            return new BoxLoops.Source.Argument(buffer, isByRows(box) ? rowElements(box) : 0, input);
        }

        private static Expr literal(Constant constant) {
            DType dtype = constant.type().dtype();
            if (dtype.isFloat()) {
                return Exprs.imm(constant.real(0));
            }
            boolean wide = dtype.isLong() || dtype.isWideUnsigned();
            return Exprs.imm(constant.integer(0), wide ? dtype : DType.INT32);
        }

        private long rowElements(Box box) {
            Shape shape = op.rootTypes().get(box.argument()).shape();
            return shape.elements() / Rows.count(shape);
        }

        /** Whether each row of the box lies within one row of the argument, and these follow each other by a step forwards. */
        private boolean isByRows(Box box) {
            Shape shape = op.rootTypes().get(box.argument()).shape();
            if (Rows.count(out) == 1 || shape.rank() != 4 || shape.dim(0) != 1) {
                return false;
            }
            long row = rowElements(box);
            long inRow = box.offset() % row;
            for (int axis = 2; axis < 4; axis++) {
                inRow += Math.max(0, box.strides().get(axis)) * (box.size().get(axis) - 1);
            }
            long rows = box.strides().get(1);
            return rows % row == 0 && rows >= 0 && (rows > 0 || box.size().get(1) == 1) && inRow < row;
        }

        /** The rows of an input that its boxes read together. */
        private RowDependency dependency(int id) {
            int argument = op.root().args().indexOf(new Arg.Ref(id));
            int rows = Rows.count(op.rootTypes().get(argument).shape());
            List<RowDependency> needs = new ArrayList<>();
            for (Box box : boxes) {
                if (op.root().args().get(box.argument()).equals(new Arg.Ref(id))) {
                    needs.add(isByRows(box) ? window(box, rows) : new RowDependency.All(rows));
                }
            }
            boolean agree = needs.stream().distinct().count() == 1;
            return agree ? needs.get(0) : new RowDependency.All(rows);
        }

        private RowDependency window(Box box, int inputRows) {
            long row = rowElements(box);
            int step = (int) Math.max(1, box.strides().get(1) / row);
            int first = (int) (box.offset() / row);
            return new RowDependency.Window(step, step * box.begin().get(1) - first, 1, inputRows);
        }
    }

    private static LoweredOperator lower(FusedOperator op, Rows rows) {
        OperatorBuffers buffers = new OperatorBuffers(op);
        ScatterNd scatter = (ScatterNd) op.root().op();
        Shape out = op.type().shape();
        Shape updates = op.rootTypes().get(UPDATES).shape();
        BlockBuilder body = new BlockBuilder();
        BoxLoops.Source data = new BoxLoops.Source.Argument(buffers.argument(0), 0, -1);
        new BoxLoops(Box.whole(out, 0, Box.strides(out)), out, data, buffers.output()).emit(body, rows);
        Buffer indices = buffers.argument(1);
        Buffer from = buffers.argument(UPDATES);
        Buffer to = buffers.output();
        int width = out.dim(1);
        body.loop("u", updates.dim(0), (update, u) -> {
            Expr row = index(update, load(indices, u), out.dim(0));
            update.loop("i", width, (inner, i) -> {
                Expr position = inner.let("at", add(mul(row, width), i));
                Expr value = inner.let("value", load(from, add(mul(u, width), i)));
                inner.store(to, position, combined(inner, scatter.mode(), load(to, position), value));
            });
        });
        return Nests.single(buffers, rows, body.build(), "scatter");
    }

    private static Expr combined(BlockBuilder block, ScatterNd.Mode mode, Expr before, Expr value) {
        return switch (mode) {
            case UPDATE -> value;
            case ADD -> wrapping(value, before, Exprs::add);
            case MUL -> wrapping(value, before, Exprs::mul);
            case MIN -> Exprs.min(value, block.let("before", before));
            case MAX -> Exprs.max(value, block.let("before", before));
        };
    }

    /** A function of two expressions. */
    private interface Arithmetic {
        Expr of(Expr a, Expr b);
    }

    /** Signed overflow is undefined in C; unsigned arithmetic wraps around as integers do. */
    private static Expr wrapping(Expr a, Expr b, Arithmetic arithmetic) {
        if (a.dtype().isFloat()) {
            return arithmetic.of(b, a);
        }
        boolean isLong = a.dtype().isLong();
        DType unsigned = isLong ? DType.UINT64 : DType.UINT32;
        Expr result = arithmetic.of(Exprs.cast(unsigned, b), Exprs.cast(unsigned, a));
        return Exprs.cast(isLong ? DType.INT64 : DType.INT32, result);
    }

    private static LoweredOperator take(FusedOperator op, Rows rows) {
        OperatorBuffers buffers = new OperatorBuffers(op);
        Take take = (Take) op.root().op();
        Shape data = op.rootTypes().get(0).shape();
        Shape indices = op.rootTypes().get(1).shape();
        Buffer from = buffers.argument(0);
        Buffer chosen = buffers.argument(1);
        BlockBuilder body = new BlockBuilder();
        ElementLoops.over(body, op.type().shape(), rows, (block, at, position) -> {
            Expr index = index(block, load(chosen, indexPosition(take, indices, at)), data.dim(take.axis()));
            Expr source = sourcePosition(take, data, indices, at, index);
            block.store(buffers.output(), position, load(from, source));
        });
        return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), "take");
    }

    /** An index clamped to the valid range. */
    private static Expr index(BlockBuilder block, Expr stated, int size) {
        Expr index = block.let("index", stated);
        Expr below = block.let("below", Exprs.min(index, imm(size - 1)));
        return block.let("inside", Exprs.max(below, imm(0)));
    }

    private static Expr indexPosition(Take take, Shape indices, List<Expr> at) {
        List<Expr> own = new ArrayList<>(at.subList(0, take.batchDims()));
        int added = indices.rank() - take.batchDims();
        own.addAll(at.subList(take.axis(), take.axis() + added));
        return ElementLoops.position(indices, own);
    }

    private static Expr sourcePosition(Take take, Shape data, Shape indices, List<Expr> at, Expr index) {
        List<Expr> own = new ArrayList<>(at.subList(0, take.axis()));
        own.add(index);
        own.addAll(at.subList(take.axis() + indices.rank() - take.batchDims(), at.size()));
        Expr position = imm(0);
        for (int i = 0; i < data.rank(); i++) {
            position = add(mul(position, data.dim(i)), own.get(i));
        }
        return position;
    }

    /** Lowers the update of a slice: a copy of the data, then a copy of the update into it. */
    private static final class UpdateSliceLowering extends RootLowering {
        private final Buffer update;
        private final Shape updateShape;
        private final Shape out;

        UpdateSliceLowering(FusedOperator op) {
            super(op);
            this.update = buffers.argument(1);
            this.updateShape = op.rootTypes().get(1).shape();
            this.out = op.type().shape();
        }

        LoweredOperator lower(Rows rows) {
            BlockBuilder body = new BlockBuilder();
            int input =
                    op.root().args().get(0) instanceof Arg.Ref ref ? op.inputs().indexOf(ref.id()) : -1;
            long rowElements = Rows.count(out) > 1 ? out.elements() / Rows.count(out) : 0;
            new BoxLoops(
                            Box.whole(out, 0, Box.strides(out)),
                            out,
                            new BoxLoops.Source.Argument(buffers.argument(0), rowElements, input),
                            buffers.output())
                    .emit(body, rows);
            List<Expr> start = start(body);
            nest(body, rows, start, new ArrayList<>());
            List<RowDependency> dependencies = new ArrayList<>();
            for (int id : op.inputs()) {
                int count = Rows.count(op.rootTypes()
                        .get(op.root().args().indexOf(new Arg.Ref(id)))
                        .shape());
                boolean isData = op.root().args().indexOf(new Arg.Ref(id)) == 0
                        && op.root().args().lastIndexOf(new Arg.Ref(id)) == 0;
                dependencies.add(isData ? RowDependency.same(count) : new RowDependency.All(count));
            }
            return Nests.operator(buffers, rows, dependencies, body.build(), "copy");
        }

        /** The first index of the update along each dimension, cut so that all of it lies inside. */
        private List<Expr> start(BlockBuilder block) {
            Arg stated = op.root().args().get(TflDynamicUpdateSlice.START);
            List<Expr> start = new ArrayList<>();
            for (int axis = 0; axis < out.rank(); axis++) {
                int most = out.dim(axis) - updateShape.dim(axis);
                if (most == 0) {
                    start.add(imm(0));
                } else if (stated instanceof Constant constant) {
                    start.add(imm(Math.min(Math.max(constant.integer(axis), 0), most)));
                } else {
                    start.add(start(block, axis, most));
                }
            }
            return start;
        }

        private Expr start(BlockBuilder block, int axis, int most) {
            Buffer stated = buffers.argument(TflDynamicUpdateSlice.START);
            Expr index = block.let("stated" + axis, load(stated, imm(axis)));
            Expr below = block.let("below" + axis, Exprs.min(index, imm(most, stated.dtype())));
            Expr inside = Exprs.cast(DType.INT32, Exprs.max(below, imm(0, stated.dtype())));
            return block.let("start" + axis, inside);
        }

        private void nest(BlockBuilder block, Rows rows, List<Expr> start, List<Expr> indices) {
            int axis = indices.size();
            if (axis == out.rank()) {
                List<Expr> lines = new ArrayList<>();
                for (int i = 0; i < axis; i++) {
                    Expr index = add(start.get(i), indices.get(i));
                    lines.add(i == 1 && Rows.count(out) > 1 ? rows.outputLine(index) : index);
                }
                Expr value = load(update, ElementLoops.position(updateShape, indices));
                block.store(buffers.output(), ElementLoops.position(out, lines), value);
                return;
            }
            Expr begin = imm(0);
            Expr end = imm(updateShape.dim(axis));
            if (axis == 1 && Rows.count(out) > 1 && !rows.parameters().isEmpty()) {
                begin = block.let(
                        "first", Exprs.max(block.let("before", Exprs.sub(rows.begin(), start.get(1))), begin));
                end = block.let("last", Exprs.min(block.let("behind", Exprs.sub(rows.end(), start.get(1))), end));
            }
            block.loop("i" + axis, begin, end, (inner, index) -> {
                List<Expr> more = new ArrayList<>(indices);
                more.add(index);
                nest(inner, rows, start, more);
            });
        }
    }
}
