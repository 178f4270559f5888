// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.call;

import io.kiln.base.DType;
import io.kiln.ir.op.call.If;
import io.kiln.ir.op.call.While;
import io.kiln.lower.Callee;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Lowers operators that call functions. Their scratch holds the functions' workspace; a loop's also holds, before it, the condition
 * and the new values of the loop's variables, which are copied after the body has finished with the old ones.
 */
final class ControlFlowLowering {
    /** Alignment in bytes of everything in scratch. */
    private static final int ALIGNMENT = 8;

    private final FusedOperator op;
    private final List<Callee> callees;
    private final Tables tables;
    private final OperatorBuffers buffers;

    /**
     * Prepares the lowering.
     *
     * @param callees the caller's functions by index
     */
    ControlFlowLowering(FusedOperator op, List<Callee> callees) {
        this.op = op;
        this.callees = callees;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    LoweredOperator choose(If choice, Rows rows) {
        BlockBuilder body = new BlockBuilder();
        choose(body, choice);
        return lowered(body, rows);
    }

    LoweredOperator repeat(While loop, Rows rows) {
        BlockBuilder body = new BlockBuilder();
        repeat(body, loop);
        return lowered(body, rows);
    }

    private LoweredOperator lowered(BlockBuilder body, Rows rows) {
        return Nests.operator(op, buffers, tables, rows, Nests.allRows(op), body.build(), "call");
    }

    private void choose(BlockBuilder body, If choice) {
        Callee then = callees.get(choice.then());
        Callee otherwise = callees.get(choice.otherwise());
        Optional<Buffer> scratch = scratch(Math.max(then.workspaceBytes(), otherwise.workspaceBytes()));
        List<Buffer> passed = arguments(1, choice.firstVariable());
        body.ifThenElse(
                Exprs.load(buffers.argument(0), Exprs.imm(0)),
                b -> b.add(call(then, passed, choice.firstVariable(), choice.thenVariables(), scratch)),
                b -> b.add(call(otherwise, passed, choice.firstVariable(), choice.otherwiseVariables(), scratch)));
    }

    private List<Buffer> arguments(int from, int to) {
        return IntStream.range(from, to).mapToObj(buffers::argument).toList();
    }

    private Stmt call(
            Callee callee, List<Buffer> passed, int firstVariable, List<Integer> variables, Optional<Buffer> scratch) {
        List<Buffer> all = new ArrayList<>(passed);
        variables.forEach(v -> all.add(buffers.argument(firstVariable + v)));
        if (callee.workspaceBytes() > 0) {
            all.add(scratch.orElseThrow());
        }
        callee.function().buffers().stream()
                .filter(buffer -> buffer.scope() == Buffer.Scope.DEVICE)
                .forEach(context -> all.add(buffers.device(context.name())));
        return new Stmt.CallFunction(callee.function().name(), all, List.of());
    }

    private Optional<Buffer> scratch(long bytes) {
        return bytes == 0 ? Optional.empty() : Optional.of(buffers.scratch(DType.UINT8, bytes));
    }

    private void repeat(BlockBuilder body, While loop) {
        Callee condition = callees.get(loop.condition());
        Callee step = callees.get(loop.body());
        List<Buffer> old = arguments(0, loop.loopVariables());
        List<Long> offsets = new ArrayList<>();
        long bytes = ALIGNMENT;
        for (Buffer variable : old) {
            offsets.add(bytes);
            bytes += aligned(variable.bytes());
        }
        long needed = Math.max(condition.workspaceBytes(), step.workspaceBytes());
        Buffer scratch = buffers.scratch(DType.UINT8, bytes + needed);
        Buffer goesOn = view(body, "goes_on", DType.BOOL, 1, scratch, 0);
        List<Buffer> fresh = new ArrayList<>();
        for (int i = 0; i < old.size(); i++) {
            Buffer variable = old.get(i);
            fresh.add(view(body, "next" + i, variable.dtype(), variable.elements(), scratch, offsets.get(i)));
        }
        Optional<Buffer> workspace =
                needed == 0 ? Optional.empty() : Optional.of(body.mutableView("workspace", scratch, Exprs.imm(bytes)));
        List<Buffer> asked = new ArrayList<>(old);
        asked.add(goesOn);
        Stmt ask = call(condition, asked, loop.loopVariables(), loop.conditionVariables(), workspace);
        List<Buffer> passed = new ArrayList<>(old);
        passed.addAll(fresh);
        BlockBuilder inner = new BlockBuilder();
        inner.add(call(step, passed, loop.loopVariables(), loop.bodyVariables(), workspace));
        for (int i = 0; i < old.size(); i++) {
            inner.add(new Stmt.Copy(old.get(i), fresh.get(i), old.get(i).bytes()));
        }
        body.add(ask)
                .add(new Stmt.While(
                        Exprs.load(goesOn, Exprs.imm(0)), inner.add(ask).build()));
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private static Buffer view(BlockBuilder body, String name, DType dtype, long elements, Buffer base, long offset) {
        Buffer view = new Buffer(name, dtype, elements, Buffer.Scope.MUTABLE_VIEW);
        body.add(new Stmt.DeclareView(view, base, Exprs.imm(offset)));
        return view;
    }
}
