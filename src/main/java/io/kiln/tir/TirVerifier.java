// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Checks a function against the rules of the loop IR: everything is declared before use and only once on any path, only
 * mutable scalars are assigned, only writable buffers are stored to, types agree.
 */
public final class TirVerifier {
    private final Problems problems = new Problems(Failure.BUG);
    private final String function;

    /**
     * What is declared in a block and around it: scalars with whether they are mutable, buffers, and the names of buffers. A block does not
     * copy what is around it, which in the main function is as much as the model has operators.
     */
    private record Scope(Optional<Scope> outer, Map<String, Boolean> scalars, Set<Buffer> buffers, Set<String> names) {
        static Scope of(List<Buffer> buffers) {
            Scope scope = within(Optional.empty());
            buffers.forEach(scope::add);
            return scope;
        }

        private static Scope within(Optional<Scope> outer) {
            return new Scope(outer, new HashMap<>(), new HashSet<>(), new HashSet<>());
        }

        Scope inner() {
            return within(Optional.of(this));
        }

        void add(Buffer buffer) {
            buffers.add(buffer);
            names.add(buffer.name());
        }

        boolean has(String name) {
            return scalars.containsKey(name)
                    || names.contains(name)
                    || outer.map(around -> around.has(name)).orElse(false);
        }

        boolean has(Buffer buffer) {
            return buffers.contains(buffer)
                    || outer.map(around -> around.has(buffer)).orElse(false);
        }

        /** Whether a scalar is mutable; empty if there is none of this name. */
        Optional<Boolean> scalar(String name) {
            return Optional.ofNullable(scalars.get(name)).or(() -> outer.flatMap(around -> around.scalar(name)));
        }
    }

    private TirVerifier(String function) {
        this.function = function;
    }

    /**
     * Checks a function.
     *
     * @throws io.kiln.base.KilnException with every violation
     */
    public static void verify(PrimFunc func) {
        verify(func, List.of());
    }

    /**
     * Checks a function of a file that defines static memory.
     *
     * @throws io.kiln.base.KilnException with every violation
     */
    public static void verify(PrimFunc func, List<Buffer> statics) {
        TirVerifier verifier = new TirVerifier(func.name());
        Scope scope = Scope.of(func.buffers());
        func.scalars().forEach(s -> scope.scalars().put(s.name(), false));
        statics.forEach(scope::add);
        func.constants().forEach(t -> scope.add(t.buffer()));
        verifier.statement(func.body(), scope);
        verifier.problems.throwIfAny();
    }

    private void fail(String what) {
        problems.add(Failure.BUG.problem(what, function));
    }

    private void statement(Stmt stmt, Scope scope) {
        if (stmt instanceof Stmt.Block block) {
            Scope inner = scope.inner();
            block.statements().forEach(s -> statement(s, inner));
        } else if (stmt instanceof Stmt.For loop) {
            expression(loop.begin(), scope);
            expression(loop.end(), scope);
            Scope inner = scope.inner();
            declare(loop.variable(), false, inner);
            statement(loop.body(), inner);
        } else if (stmt instanceof Stmt.While loop) {
            expression(loop.condition(), scope);
            expect(DType.BOOL, loop.condition(), "a condition");
            statement(loop.body(), scope.inner());
        } else if (stmt instanceof Stmt.If branch) {
            expression(branch.condition(), scope);
            expect(DType.BOOL, branch.condition(), "a condition");
            statement(branch.then(), scope);
            branch.otherwise().ifPresent(o -> statement(o, scope));
        } else if (stmt instanceof Stmt.Switch choice) {
            expression(choice.value(), scope);
            choice.cases().forEach(c -> statement(c, scope));
        } else if (stmt instanceof Stmt.Declare declare) {
            expression(declare.value(), scope);
            expect(
                    declare.variable().dtype(),
                    declare.value(),
                    declare.variable().name());
            declare(declare.variable(), declare.mutable(), scope);
        } else if (stmt instanceof Stmt.Assign assign) {
            expression(assign.value(), scope);
            expect(assign.variable().dtype(), assign.value(), assign.variable().name());
            if (!scope.scalar(assign.variable().name()).orElse(false)) {
                fail(assign.variable().name() + " is assigned but is not a mutable scalar");
            }
        } else {
            memory(stmt, scope);
        }
    }

    private void memory(Stmt stmt, Scope scope) {
        if (stmt instanceof Stmt.DeclareView view) {
            expression(view.offset(), scope);
            known(view.base(), scope);
            if (view.view().isWritable() && !view.base().isWritable()) {
                fail(view.view().name() + " is writable but its base "
                        + view.base().name() + " is not");
            }
            if (scope.has(view.view().name())) {
                fail(view.view().name() + " is declared twice");
            }
            scope.add(view.view());
        } else if (stmt instanceof Stmt.Store store) {
            expression(store.index(), scope);
            expression(store.value(), scope);
            known(store.buffer(), scope);
            if (!store.buffer().isWritable()) {
                fail("store to read-only " + store.buffer().name());
            }
            if (store.buffer().dtype().isFloat() != store.value().dtype().isFloat()) {
                fail("store of " + store.value().dtype().text() + " to "
                        + store.buffer().name());
            }
        } else if (stmt instanceof Stmt.CallFunction call) {
            call.arguments().forEach(b -> known(b, scope));
            call.scalars().forEach(s -> expression(s, scope));
        } else if (stmt instanceof Stmt.CallKernel call) {
            kernel(call, scope);
        } else if (stmt instanceof Stmt.Copy copy) {
            known(copy.to(), scope);
            known(copy.from(), scope);
        }
    }

    private void kernel(Stmt.CallKernel call, Scope scope) {
        Kernel kernel = call.kernel();
        if (kernel.pointers().size() != call.pointers().size()
                || kernel.scalars().size() != call.scalars().size()) {
            fail(kernel.name() + " is called with " + call.pointers().size() + " pointers and "
                    + call.scalars().size() + " scalars");
            return;
        }
        for (int i = 0; i < call.pointers().size(); i++) {
            Buffer buffer = call.pointers().get(i);
            known(buffer, scope);
            if (buffer.dtype() != kernel.pointers().get(i).dtype()) {
                fail(kernel.name() + " takes no pointer to " + buffer.dtype().text() + " as argument " + i);
            }
            if (kernel.pointers().get(i).written() && !buffer.isWritable()) {
                fail(kernel.name() + " writes to read-only " + buffer.name());
            }
        }
        for (int i = 0; i < call.scalars().size(); i++) {
            expression(call.scalars().get(i), scope);
            expect(kernel.scalars().get(i), call.scalars().get(i), kernel.name());
        }
    }

    private void declare(Expr.Var variable, boolean mutable, Scope scope) {
        if (scope.has(variable.name())) {
            fail(variable.name() + " is declared twice");
        }
        scope.scalars().put(variable.name(), mutable);
    }

    private void known(Buffer buffer, Scope scope) {
        if (!scope.has(buffer)) {
            fail("buffer " + buffer.name() + " is not known");
        }
    }

    private void expect(DType dtype, Expr value, String what) {
        DType actual = value.dtype() == DType.BOOL ? DType.BOOL : Exprs.promote(value.dtype(), value.dtype());
        if (actual != dtype) {
            fail(what + " must be " + dtype.text() + ", not " + actual.text());
        }
    }

    private void expression(Expr expr, Scope scope) {
        if (expr instanceof Expr.Var variable && scope.scalar(variable.name()).isEmpty()) {
            fail(variable.name() + " is used before it is declared");
        } else if (expr instanceof Expr.Load load) {
            known(load.buffer(), scope);
            expression(load.index(), scope);
        } else if (expr instanceof Expr.Binary binary) {
            expression(binary.a(), scope);
            expression(binary.b(), scope);
        } else if (expr instanceof Expr.Cast cast) {
            expression(cast.value(), scope);
        } else if (expr instanceof Expr.Select select) {
            expression(select.condition(), scope);
            expect(DType.BOOL, select.condition(), "a condition");
            expression(select.then(), scope);
            expression(select.otherwise(), scope);
        } else if (expr instanceof Expr.Call call) {
            for (int i = 0; i < call.args().size(); i++) {
                expression(call.args().get(i), scope);
                expect(
                        call.intrinsic().parameters().get(i),
                        call.args().get(i),
                        call.intrinsic().name());
            }
        }
    }
}
