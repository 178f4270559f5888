// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import io.kiln.tir.UnusedScalars;
import java.util.Collections;
import java.util.List;

/** Combines a loop nest with its metadata. */
public final class Nests {
    private Nests() {}

    /** A lowered operator without multiply-accumulates and scratch. */
    public static LoweredOperator operator(
            OperatorBuffers buffers, Rows rows, List<RowDependency> dependencies, Stmt body, String schedule) {
        FusedOperator op = buffers.op();
        PrimFunc function = new PrimFunc(
                op.name(),
                comment(op),
                buffers.parameters(),
                rows.parameters(),
                buffers.tables().list(),
                UnusedScalars.remove(body));
        return new LoweredOperator(
                function,
                op.op(),
                op.inputs(),
                op.output(),
                dependencies,
                new LoweredOperator.Cost(buffers.scratchBytes(), 0),
                LoweredOperator.Choice.only(schedule));
    }

    /** A lowered operator that computes its result at once, which is a single row as its inputs are. */
    public static LoweredOperator single(OperatorBuffers buffers, Rows rows, Stmt body, String schedule) {
        RowDependency all = new RowDependency.All(1);
        List<RowDependency> dependencies =
                Collections.nCopies(buffers.op().inputs().size(), all);
        return operator(buffers, rows, dependencies, body, schedule);
    }

    /** A line with operators, shapes and origins. */
    private static String comment(FusedOperator op) {
        Shape in = op.rootTypes().get(0).shape();
        return op.op() + ": " + in.text() + " -> " + op.type().shape().text() + ", `"
                + op.root().origin().tensor() + "`";
    }

    /** The code for one vector along the last axis. */
    public interface VectorBody {
        /** Emits the code for a vector, given the positions of its first element in the input and in the output. */
        void emit(BlockBuilder block, Expr from, Expr to);
    }

    /** Loops over the vectors along the last axis in a range of rows. */
    public static BlockBuilder vectors(Shape shape, Rows rows, VectorBody body) {
        int depth = shape.dim(-1);
        long vectors = shape.elements() / depth / Rows.count(shape);
        BlockBuilder block = new BlockBuilder();
        if (rows.areContiguous()) {
            block.loop("v", mul(rows.begin(), vectors), mul(rows.end(), vectors), (vector, v) -> {
                Expr first = vector.let("first", mul(v, depth));
                body.emit(vector, first, first);
            });
        } else {
            block.loop(
                    "y",
                    rows.begin(),
                    rows.end(),
                    (line, y) -> line.loop("v", vectors, (vector, v) -> {
                        Expr from = vector.let("from", mul(add(mul(rows.inputLine(0, y), vectors), v), depth));
                        Expr to = vector.let("first", mul(add(mul(rows.outputLine(y), vectors), v), depth));
                        body.emit(vector, from, to);
                    }));
        }
        return block;
    }

    /** The row dependencies of an operator that reads all rows of each input. */
    public static List<RowDependency> allRows(FusedOperator op) {
        return op.inputs().stream()
                .map(id -> op.root().args().indexOf(new Arg.Ref(id)))
                .<RowDependency>map(argument -> new RowDependency.All(
                        Rows.count(op.rootTypes().get(argument).shape())))
                .toList();
    }

    /** The row dependency of an element-wise operator: the same row of an input of equal shape, otherwise all rows. */
    public static RowDependency elementwise(Shape input, Shape output) {
        return input.equals(output) ? RowDependency.same(Rows.count(output)) : new RowDependency.All(Rows.count(input));
    }
}
