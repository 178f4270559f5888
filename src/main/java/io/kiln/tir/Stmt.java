// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A statement of the loop IR. */
public sealed interface Stmt {
    /** The same statement with other statements inside it. */
    default Stmt withInner(UnaryOperator<Stmt> change) {
        if (this instanceof Block block) {
            return new Block(block.statements().stream().map(change).toList());
        }
        if (this instanceof For loop) {
            return new For(loop.variable(), loop.begin(), loop.end(), loop.step(), change.apply(loop.body()));
        }
        if (this instanceof While loop) {
            return new While(loop.condition(), change.apply(loop.body()));
        }
        if (this instanceof If branch) {
            Optional<Stmt> otherwise = branch.otherwise().map(change);
            return new If(branch.condition(), change.apply(branch.then()), otherwise);
        }
        return this instanceof Switch choice
                ? new Switch(choice.value(), choice.cases().stream().map(change).toList())
                : this;
    }

    /** Statements in order. */
    record Block(List<Stmt> statements) implements Stmt {
        public Block {
            statements = List.copyOf(statements);
        }
    }

    /** {@code for (v = begin; v < end; v += step)}. */
    record For(Expr.Var variable, Expr begin, Expr end, int step, Stmt body) implements Stmt {}

    /** {@code while (condition)}. */
    record While(Expr condition, Stmt body) implements Stmt {}

    /** A conditional. */
    record If(Expr condition, Stmt then, Optional<Stmt> otherwise) implements Stmt {}

    /** Declares a scalar with its initial value. */
    record Declare(Expr.Var variable, Expr value, boolean mutable) implements Stmt {}

    /** Gives a mutable scalar a new value. */
    record Assign(Expr.Var variable, Expr value) implements Stmt {}

    /** Declares a pointer to {@code base[offset]}; the offset counts elements of the base, whose type may differ. */
    record DeclareView(Buffer view, Buffer base, Expr offset) implements Stmt {}

    /** {@code buffer[index] = value}; the value is narrowed to the element type. */
    record Store(Buffer buffer, Expr index, Expr value) implements Stmt {}

    /** Runs the case with the value's number; there is one for each value. */
    record Switch(Expr value, List<Stmt> cases) implements Stmt {
        public Switch {
            cases = List.copyOf(cases);
        }
    }

    record Comment(String text) implements Stmt {}

    /** Calls an operator function and returns its error; the scalars follow the pointers. */
    record CallFunction(String function, List<Buffer> arguments, List<Expr> scalars) implements Stmt {
        public CallFunction {
            arguments = List.copyOf(arguments);
            scalars = List.copyOf(scalars);
        }
    }

    /** Calls a micro-kernel; its parameters state which pointers it reads and writes. */
    record CallKernel(Kernel kernel, List<Buffer> pointers, List<Expr> scalars) implements Stmt {
        public CallKernel {
            pointers = List.copyOf(pointers);
            scalars = List.copyOf(scalars);
        }
    }

    /** {@code memcpy} between whole buffers; size in bytes. */
    record Copy(Buffer to, Buffer from, long bytes) implements Stmt {}
}
