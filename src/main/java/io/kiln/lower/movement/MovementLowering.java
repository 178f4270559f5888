// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Operators that only copy: one nest of loops for each box of the output. Rows depend on single rows if they correspond
 * by a forward step, as when channels are concatenated or rows are cropped.
 */
final class MovementLowering {
    private final FusedOperator op;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Shape out;
    private final List<Integer> inputs;
    private final List<Box> boxes;
    private final Map<Integer, Buffer> arguments = new HashMap<>();

    MovementLowering(FusedOperator op, List<Box> boxes) {
        this.op = op;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.out = op.type().shape();
        this.inputs = op.inputs();
        this.boxes = List.copyOf(boxes);
    }

    LoweredOperator lower(Rows rows) {
        List<RowDependency> dependencies = inputs.stream().map(this::dependency).toList();
        BlockBuilder body = new BlockBuilder();
        for (Box box : boxes) {
            BlockBuilder nest = new BlockBuilder();
            new BoxLoops(box, out, source(box), buffers.output()).emit(nest, rows);
            addTo(body, nest.build());
        }
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), "copy");
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
