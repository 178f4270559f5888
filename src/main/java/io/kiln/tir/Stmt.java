// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import java.util.List;
import java.util.Optional;

/** A statement. */
public sealed interface Stmt {
    /** Statements in order. */
    record Block(List<Stmt> statements) implements Stmt {
        public Block {
            statements = List.copyOf(statements);
        }
    }

    /** {@code for (v = begin; v < end; v += step)}. */
    record For(Expr.Var variable, Expr begin, Expr end, int step, Stmt body) implements Stmt {}

    /** A conditional. */
    record If(Expr condition, Stmt then, Optional<Stmt> otherwise) implements Stmt {}

    /** Declares a scalar with its first value. */
    record Declare(Expr.Var variable, Expr value, boolean mutable) implements Stmt {}

    /** Gives a mutable scalar a new value. */
    record Assign(Expr.Var variable, Expr value) implements Stmt {}

    /** Declares an array on the stack, not initialised. */
    record DeclareArray(Buffer array) implements Stmt {}

    /** Declares a pointer to {@code base[offset]}. */
    record DeclareView(Buffer view, Buffer base, Expr offset) implements Stmt {}

    /** Moves a pointer forward by elements. */
    record Advance(Buffer view, Expr elements) implements Stmt {}

    /** {@code buffer[index] = value}; the value is narrowed to the element type. */
    record Store(Buffer buffer, Expr index, Expr value) implements Stmt {}

    /** A comment on a line of its own. */
    record Comment(String text) implements Stmt {}

    /** Calls an operator function and passes its error on. */
    record CallFunction(String function, List<Argument> arguments) implements Stmt {
        public CallFunction {
            arguments = List.copyOf(arguments);
        }
    }

    /** {@code memcpy} between buffers; sizes in bytes. */
    record Copy(Buffer to, Expr toIndex, Buffer from, Expr fromIndex, long bytes) implements Stmt {}

    /** A pointer argument: a buffer, or the workspace at a byte offset seen as elements of a type. */
    record Argument(Buffer buffer, long byteOffset, DType as, boolean writable) {}

    static Block block(Stmt... statements) {
        return new Block(List.of(statements));
    }
}
