// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.CText;
import io.kiln.base.DType;
import io.kiln.codegen.llvm.IrExpressions.IrCalls;
import io.kiln.codegen.llvm.IrExpressions.IrType;
import io.kiln.codegen.llvm.IrExpressions.IrValue;
import io.kiln.codegen.llvm.IrFunction.IrMetadata;
import io.kiln.codegen.llvm.IrFunction.IrScope;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;

/** Prints the blocks and instructions of statements. */
final class IrStatements {
    private static final String FAILED = "failed";

    private final IrFunction out;
    private final IrScope scope;
    private final IrCalls calls;
    private final IrMetadata metadata;
    private final IrExpressions expressions;
    private boolean fails;

    IrStatements(IrFunction out, IrScope scope, IrCalls calls, IrMetadata metadata) {
        this.out = out;
        this.scope = scope;
        this.calls = calls;
        this.metadata = metadata;
        this.expressions = new IrExpressions(out, scope, calls);
        out.unique(FAILED);
    }

    /** Prints a function's body and its return. */
    void body(Stmt body) {
        statement(body);
        out.line("ret i32 0");
        if (fails) {
            out.begin(FAILED);
            out.line("ret i32 -1");
        }
    }

    private void statement(Stmt stmt) {
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(this::statement);
        } else if (stmt instanceof Stmt.For loop) {
            count(loop);
        } else if (stmt instanceof Stmt.While loop) {
            loop("while", loop.condition(), loop.body(), () -> {});
        } else if (stmt instanceof Stmt.If branch) {
            conditional(branch);
        } else if (stmt instanceof Stmt.Switch choice) {
            choose(choice);
        } else if (stmt instanceof Stmt.Comment comment) {
            out.line("; " + CText.comment(comment.text()));
        } else if (stmt instanceof Stmt.Declare declare) {
            declare(declare);
        } else if (stmt instanceof Stmt.Assign assign) {
            set(assign.variable(), assign.value());
        } else {
            memory(stmt);
        }
    }

    private void count(Stmt.For loop) {
        Expr.Var variable = loop.variable();
        makeMutable(variable);
        set(variable, loop.begin());
        Expr step = Exprs.imm(loop.step(), variable.dtype());
        loop("for", Exprs.lt(variable, loop.end()), loop.body(), () -> set(variable, Exprs.add(variable, step)));
    }

    private void loop(String name, Expr condition, Stmt body, Runnable step) {
        String head = out.unique(name);
        String inside = out.unique(name + ".body");
        String end = out.unique(name + ".end");
        out.fallInto(head);
        expressions.branch(condition, inside, end);
        out.begin(inside);
        statement(body);
        step.run();
        out.line("br label %" + head + metadata.loop());
        out.begin(end);
    }

    private void conditional(Stmt.If branch) {
        String then = out.unique("if.then");
        String end = out.unique("if.end");
        String otherwise = branch.otherwise().isPresent() ? out.unique("if.else") : end;
        expressions.branch(branch.condition(), then, otherwise);
        out.begin(then);
        statement(branch.then());
        branch.otherwise().ifPresent(other -> {
            out.jump(end);
            out.begin(otherwise);
            statement(other);
        });
        out.fallInto(end);
    }

    private void choose(Stmt.Switch choice) {
        IrValue value = expressions.number(choice.value());
        List<String> labels =
                choice.cases().stream().map(c -> out.unique("case")).toList();
        String end = out.unique("switch.end");
        int last = labels.size() - 1;
        StringBuilder table = new StringBuilder();
        for (int i = 0; i < last; i++) {
            table.append(' ')
                    .append(value.type())
                    .append(' ')
                    .append(i)
                    .append(", label %")
                    .append(labels.get(i));
        }
        out.line("switch " + value.typed() + ", label %" + labels.get(last) + " [" + table + " ]");
        for (int i = 0; i <= last; i++) {
            out.begin(labels.get(i));
            statement(choice.cases().get(i));
            out.jump(end);
        }
        out.begin(end);
    }

    private void declare(Stmt.Declare declare) {
        if (declare.mutable()) {
            makeMutable(declare.variable());
            set(declare.variable(), declare.value());
        } else {
            DType dtype = declare.variable().dtype();
            scope.define(declare.variable(), expressions.element(declare.value(), dtype));
        }
    }

    private void makeMutable(Expr.Var variable) {
        DType dtype = variable.dtype();
        scope.defineMutable(variable, out.slot(variable.name(), IrType.inMemory(dtype), dtype.bytes()));
    }

    private void set(Expr.Var variable, Expr value) {
        String element = expressions.element(value, variable.dtype());
        store(variable.dtype(), element, scope.scalar(variable.name()).text());
    }

    private void store(DType dtype, String element, String address) {
        String kept = dtype == DType.BOOL ? out.result("zext i1 " + element + " to i8") : element;
        out.line("store " + IrType.inMemory(dtype) + " " + kept + ", ptr " + address + ", align " + dtype.bytes()
                + IrMetadata.access(dtype));
    }

    private void memory(Stmt stmt) {
        if (stmt instanceof Stmt.DeclareView view) {
            scope.define(view.view(), expressions.address(view.base(), view.offset()));
        } else if (stmt instanceof Stmt.Store store) {
            String element = expressions.element(store.value(), store.buffer().dtype());
            store(store.buffer().dtype(), element, expressions.address(store.buffer(), store.index()));
        } else if (stmt instanceof Stmt.CallFunction call) {
            List<String> arguments = pointers(call.arguments());
            call.scalars().forEach(s -> arguments.add(calls.argument(s.dtype(), expressions.element(s, s.dtype()))));
            demand("call " + calls.function(call.function(), call.arguments().size(), arguments));
        } else if (stmt instanceof Stmt.CallKernel call) {
            kernel(call);
        } else if (stmt instanceof Stmt.Copy copy) {
            calls.copies();
            out.line("call void @" + calls.copy() + "(" + aligned(copy.to()) + ", " + aligned(copy.from()) + ", i"
                    + calls.bits() + " " + copy.bytes() + ", i1 false)");
        }
    }

    private void kernel(Stmt.CallKernel call) {
        List<String> arguments = pointers(call.pointers());
        for (int i = 0; i < call.scalars().size(); i++) {
            DType dtype = call.kernel().scalars().get(i);
            arguments.add(
                    calls.argument(dtype, expressions.element(call.scalars().get(i), dtype)));
        }
        String text = "call " + calls.kernel(call.kernel(), arguments);
        if (call.kernel().fails()) {
            demand(text);
        } else {
            out.line(text);
        }
    }

    private List<String> pointers(List<Buffer> buffers) {
        List<String> arguments = new ArrayList<>();
        buffers.forEach(buffer -> arguments.add(IrCalls.pointer(scope.pointer(buffer))));
        return arguments;
    }

    /** A pointer is as aligned as its type, as in C. */
    private String aligned(Buffer buffer) {
        return "ptr align " + buffer.dtype().bytes() + " " + scope.pointer(buffer);
    }

    /** Calls a function, and returns its error if it fails. */
    private void demand(String call) {
        fails = true;
        String good = out.unique("good");
        String failed = out.result("icmp ne i32 " + out.result(call) + ", 0");
        out.line("br i1 " + failed + ", label %" + FAILED + ", label %" + good);
        out.begin(good);
    }
}
