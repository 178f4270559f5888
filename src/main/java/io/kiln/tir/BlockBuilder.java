// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Builds a block of the loop IR statement by statement: scalars, loops, branches, stores and calls, in the order of the calls. */
public final class BlockBuilder {
    private final List<Stmt> statements = new ArrayList<>();

    /** The statements so far as one block; inner blocks are merged if no name is declared twice. */
    public Stmt.Block build() {
        List<Set<String>> names = statements.stream().map(DeclaredNames::of).toList();
        Map<String, Integer> declarations = new HashMap<>();
        names.forEach(each -> each.forEach(name -> declarations.merge(name, 1, Integer::sum)));
        List<Stmt> flat = new ArrayList<>();
        for (int i = 0; i < statements.size(); i++) {
            if (statements.get(i) instanceof Stmt.Block inner
                    && names.get(i).stream().allMatch(name -> declarations.get(name) == 1)) {
                flat.addAll(inner.statements());
            } else {
                flat.add(statements.get(i));
            }
        }
        return new Stmt.Block(flat);
    }

    public BlockBuilder add(Stmt statement) {
        statements.add(statement);
        return this;
    }

    /** Declares a constant scalar and returns it. Literals and variables are returned unchanged. */
    public Expr let(String name, Expr value) {
        if (value instanceof Expr.IntImm || value instanceof Expr.Var) {
            return value;
        }
        Expr.Var variable = new Expr.Var(name, promoted(value));
        add(new Stmt.Declare(variable, value, false));
        return variable;
    }

    /** Declares a mutable scalar. */
    public Expr.Var mutable(String name, Expr value) {
        Expr.Var variable = new Expr.Var(name, promoted(value));
        add(new Stmt.Declare(variable, value, true));
        return variable;
    }

    private static DType promoted(Expr value) {
        return value.dtype() == DType.BOOL ? DType.BOOL : Exprs.promote(value.dtype(), value.dtype());
    }

    public BlockBuilder assign(Expr.Var variable, Expr value) {
        return add(new Stmt.Assign(variable, value));
    }

    public BlockBuilder store(Buffer buffer, Expr index, Expr value) {
        return add(new Stmt.Store(buffer, index, value));
    }

    /** Declares a read-only pointer to {@code base[offset]}. */
    public Buffer view(String name, Buffer base, Expr offset) {
        Buffer view = new Buffer(name, base.dtype(), 0, Buffer.Scope.VIEW);
        add(new Stmt.DeclareView(view, base, offset));
        return view;
    }

    /** Declares a pointer to {@code base[offset]} for writing. */
    public Buffer mutableView(String name, Buffer base, Expr offset) {
        Buffer view = new Buffer(name, base.dtype(), 0, Buffer.Scope.MUTABLE_VIEW);
        add(new Stmt.DeclareView(view, base, offset));
        return view;
    }

    public BlockBuilder call(Kernel kernel, List<Buffer> pointers, List<Expr> scalars) {
        return add(new Stmt.CallKernel(kernel, pointers, scalars));
    }

    /** A block with names of its own. */
    public BlockBuilder block(Consumer<BlockBuilder> body) {
        BlockBuilder inner = new BlockBuilder();
        body.accept(inner);
        return add(inner.build());
    }

    /** A counting loop; a single iteration becomes its body, none is omitted. */
    public BlockBuilder loop(String name, Expr begin, Expr end, int step, LoopBody body) {
        if (begin instanceof Expr.IntImm first && end instanceof Expr.IntImm last) {
            if (first.value() >= last.value()) {
                return this;
            }
            if (first.value() + step >= last.value()) {
                BlockBuilder once = new BlockBuilder();
                body.emit(once, begin);
                return add(once.build());
            }
        }
        if (begin instanceof Expr.Var && end.equals(Exprs.add(begin, step))) {
            BlockBuilder once = new BlockBuilder();
            body.emit(once, begin);
            return add(once.build());
        }
        Expr.Var variable = Exprs.var(name);
        BlockBuilder inner = new BlockBuilder();
        body.emit(inner, variable);
        return add(new Stmt.For(variable, begin, end, step, inner.build()));
    }

    /** A loop that counts one by one. */
    public BlockBuilder loop(String name, Expr begin, Expr end, LoopBody body) {
        return loop(name, begin, end, 1, body);
    }

    public BlockBuilder loop(String name, long end, LoopBody body) {
        return loop(name, Exprs.imm(0), Exprs.imm(end), body);
    }

    public BlockBuilder ifThen(Expr condition, Consumer<BlockBuilder> then) {
        BlockBuilder inner = new BlockBuilder();
        then.accept(inner);
        return add(new Stmt.If(condition, inner.build(), Optional.empty()));
    }

    public BlockBuilder ifThenElse(Expr condition, Consumer<BlockBuilder> then, Consumer<BlockBuilder> otherwise) {
        BlockBuilder first = new BlockBuilder();
        then.accept(first);
        BlockBuilder second = new BlockBuilder();
        otherwise.accept(second);
        return add(new Stmt.If(condition, first.build(), Optional.of(second.build())));
    }

    /** Emits the body of a loop into a builder, given the loop variable. */
    @FunctionalInterface
    public interface LoopBody {
        void emit(BlockBuilder builder, Expr variable);
    }

    /** The names declared by a statement, at any depth: variables, loop variables, pointers. */
    static final class DeclaredNames {
        private DeclaredNames() {}

        static Set<String> of(Stmt statement) {
            Set<String> names = new HashSet<>();
            collect(statement, names);
            return names;
        }

        private static void collect(Stmt statement, Set<String> names) {
            if (statement instanceof Stmt.Declare declare) {
                names.add(declare.variable().name());
            } else if (statement instanceof Stmt.DeclareView view) {
                names.add(view.view().name());
            } else if (statement instanceof Stmt.For loop) {
                names.add(loop.variable().name());
                collect(loop.body(), names);
            } else if (statement instanceof Stmt.While loop) {
                collect(loop.body(), names);
            } else if (statement instanceof Stmt.If branch) {
                collect(branch.then(), names);
                branch.otherwise().ifPresent(o -> collect(o, names));
            } else if (statement instanceof Stmt.Switch choice) {
                choice.cases().forEach(c -> collect(c, names));
            } else if (statement instanceof Stmt.Block block) {
                block.statements().forEach(s -> collect(s, names));
            }
        }
    }
}
