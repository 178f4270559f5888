// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Optimize;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The quantized sum or difference of two tensors of one shape, or of one and a vector of channels, by a kernel of the core. */
public final class ElementwiseAdd {
    private final FusedOperator op;
    private final AddCall call;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Shape out;

    private ElementwiseAdd(FusedOperator op, AddCall call) {
        this.op = op;
        this.call = call;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.out = op.type().shape();
    }

    /** Loops for a sum of two inputs; empty for another operator, or if the core has no kernel for it. */
    public static Optional<LoweredOperator> lower(
            FusedOperator op, Rows rows, CpuFeatures features, Optimize optimize) {
        return AddCall.of(op, features, optimize).map(call -> new ElementwiseAdd(op, call).lower(rows));
    }

    private LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        if (rows.areContiguous()) {
            elements(body, rows, rows.begin(), sub(rows.end(), rows.begin()));
        } else {
            body.loop("y", rows.begin(), rows.end(), (line, y) -> elements(line, rows, y, imm(1)));
        }
        List<RowDependency> dependencies = new ArrayList<>();
        for (int id : op.inputs()) {
            int argument = op.root().args().indexOf(new Arg.Ref(id));
            dependencies.add(Nests.elementwise(op.rootTypes().get(argument).shape(), out));
        }
        return Nests.operator(buffers, rows, dependencies, body.build(), call.schedule())
                .because(call.reason());
    }

    /** The elements of neighbouring rows, or of a row. */
    private void elements(BlockBuilder block, Rows rows, Expr y, Expr count) {
        int channels = out.rank() == 0 ? 1 : out.dim(-1);
        long pixels = row() / channels;
        switch (call.run()) {
            case ALL -> call(block, rows, y, imm(0), List.of(mul(count, row())));
            case PIXELS -> call(block, rows, y, imm(0), List.of(imm(channels), mul(count, pixels)));
            case CHANNEL ->
                block.loop("c", channels, (channel, c) -> call(channel, rows, y, c, List.of(mul(count, pixels))));
        }
    }

    /** A call for elements of a row, from an offset in it on. */
    private void call(BlockBuilder block, Rows rows, Expr y, Expr offset, List<Expr> counts) {
        Buffer first = side(block, call.first(), rows, y, offset);
        Buffer second = side(block, 1 - call.first(), rows, y, offset);
        Buffer to = block.mutableView("out", buffers.output(), add(mul(rows.outputLine(y), row()), offset));
        List<Expr> scalars = new ArrayList<>(counts);
        scalars.addAll(call.scalars());
        block.call(call.kernel(), List.of(first, second, to), scalars);
    }

    /** The elements of an argument; those of a vector of channels are the same for every pixel. */
    private Buffer side(BlockBuilder block, int argument, Rows rows, Expr y, Expr offset) {
        Shape shape = op.rootTypes().get(argument).shape();
        String name = argument == 0 ? "lhs" : "rhs";
        if (!shape.equals(out)) {
            return call.run() == AddCall.Run.PIXELS
                    ? buffers.argument(argument)
                    : block.view(name, buffers.argument(argument), offset);
        }
        Expr line = op.root().args().get(argument) instanceof Arg.Ref ref
                ? rows.inputLine(op.inputs().indexOf(ref.id()), y)
                : y;
        return block.view(name, buffers.argument(argument), add(mul(line, row()), offset));
    }

    /** Elements of a row. */
    private long row() {
        return out.elements() / Rows.count(out);
    }
}
