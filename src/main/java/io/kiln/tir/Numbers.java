// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import io.kiln.tir.Expr.BinaryOp;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The numbers in the values that a statement computes, such as zero points and multipliers. Operators of a kind often differ in nothing else. Numbers
 * that a compiler makes other code of stay in the statement: bounds of loops, places in buffers, shifts, divisors of integers.
 *
 * @param shape the statement with a variable of no name in place of each number
 * @param values the numbers, in the order in which the statement has them: {@link Expr.IntImm} or {@link Expr.FloatImm}
 * @param operations about the instructions that a compiler makes of it if no loop is unrolled
 * @param unrolled the same if innermost loops over values have {@value #UNROLLED} turns in one, as compilers do
 */
public record Numbers(Stmt shape, List<Expr> values, int operations, int unrolled) {
    private static final int UNROLLED = 4;
    private static final int LOOP = 2;

    /** From this size on, integers that an intrinsic takes are multipliers; smaller ones are shifts, without which its code would be longer. */
    private static final int LEAST_MULTIPLIER = 64;

    private static final int INTRINSIC = 4;
    private static final int INSTRUCTION = 4;

    public Numbers {
        values = List.copyOf(values);
    }

    /** Takes the numbers out of a statement. */
    public static Numbers of(Stmt stmt) {
        List<Expr> values = new ArrayList<>();
        Exchange exchange = new Exchange(number -> {
            values.add(number);
            return new Expr.Var("", number.dtype());
        });
        Stmt shape = exchange.statement(stmt);
        return new Numbers(shape, values, exchange.operations, exchange.operations + exchange.repeated);
    }

    /**
     * The statement with others in place of its numbers.
     *
     * @param stmt what {@link #of} has read
     * @param others as many expressions as it has numbers, of the same types
     */
    public static Stmt replace(Stmt stmt, List<Expr> others) {
        Iterator<Expr> next = others.iterator();
        return new Exchange(number -> next.next()).statement(stmt);
    }

    /** The bits of a number, which tell numbers of one type apart. */
    public static long bits(Expr number) {
        return number instanceof Expr.FloatImm real
                ? Float.floatToRawIntBits(real.value())
                : ((Expr.IntImm) number).value();
    }

    /** Goes through a statement in order. */
    private static final class Exchange {
        private final UnaryOperator<Expr> change;
        private int operations;
        private int repeated;
        private int loops;

        Exchange(UnaryOperator<Expr> change) {
            this.change = change;
        }

        Stmt statement(Stmt stmt) {
            if (stmt instanceof Stmt.Declare declare) {
                return new Stmt.Declare(declare.variable(), value(declare.value()), declare.mutable());
            }
            if (stmt instanceof Stmt.Assign assign) {
                return new Stmt.Assign(assign.variable(), value(assign.value()));
            }
            if (stmt instanceof Stmt.Store store) {
                operations++;
                return new Stmt.Store(store.buffer(), store.index(), value(store.value()));
            }
            if (stmt instanceof Stmt.CallKernel call) {
                return kernel(call);
            }
            return stmt instanceof Stmt.For loop ? loop(loop) : stmt.withInner(this::statement);
        }

        private Stmt loop(Stmt.For loop) {
            int around = ++loops;
            int before = operations;
            Stmt changed = loop.withInner(this::statement);
            if (loops == around && loop.begin() instanceof Expr.IntImm begin && loop.end() instanceof Expr.IntImm end) {
                long turns = (end.value() - begin.value()) / loop.step();
                repeated += (int) (Math.min(turns, UNROLLED) - 1) * (operations - before);
            }
            operations += LOOP;
            return changed;
        }

        private Stmt kernel(Stmt.CallKernel call) {
            loops++;
            operations += 1 + call.pointers().size() + call.scalars().size();
            if (call.kernel().definition().contains("static inline")) {
                operations += CodeBytes.of(call.kernel()) / INSTRUCTION;
                return call;
            }
            List<Expr> scalars = call.scalars().stream().map(this::value).toList();
            return new Stmt.CallKernel(call.kernel(), call.pointers(), scalars);
        }

        private Expr value(Expr expr) {
            if (isNumber(expr)) {
                return change.apply(expr);
            }
            if (expr instanceof Expr.Load || expr instanceof Expr.Select) {
                operations++;
            }
            if (expr instanceof Expr.Binary binary) {
                operations++;
                return binary(binary);
            }
            if (expr instanceof Expr.Cast cast) {
                return new Expr.Cast(cast.dtype(), value(cast.value()));
            }
            if (expr instanceof Expr.Select select) {
                return new Expr.Select(
                        value(select.condition()), value(select.then()), value(select.otherwise()), select.dtype());
            }
            if (expr instanceof Expr.Call call) {
                operations += INTRINSIC;
                return new Expr.Call(
                        call.intrinsic(),
                        call.args().stream().map(this::argument).toList());
            }
            return expr;
        }

        /** What is subtracted is added with the other sign, since zero points have either. */
        private Expr binary(Expr.Binary binary) {
            Expr a = value(binary.a());
            if (binary.op() == BinaryOp.SUB
                    && binary.b() instanceof Expr.IntImm number
                    && number.dtype() == DType.INT32
                    && number.value() != Integer.MIN_VALUE) {
                Expr negative = change.apply(new Expr.IntImm(-number.value(), DType.INT32));
                return negative instanceof Expr.IntImm same && same.value() == -number.value()
                        ? new Expr.Binary(BinaryOp.SUB, a, number, binary.dtype())
                        : new Expr.Binary(BinaryOp.ADD, a, negative, binary.dtype());
            }
            return new Expr.Binary(binary.op(), a, isForm(binary) ? binary.b() : value(binary.b()), binary.dtype());
        }

        private static boolean isForm(Expr.Binary binary) {
            return switch (binary.op()) {
                case SHL, SHR, BIT_AND, BIT_OR, BIT_XOR -> true;
                case DIV, MOD -> !binary.dtype().isFloat();
                default -> false;
            };
        }

        private Expr argument(Expr expr) {
            return expr instanceof Expr.IntImm number && Math.abs(number.value()) < LEAST_MULTIPLIER
                    ? expr
                    : value(expr);
        }

        private static boolean isNumber(Expr expr) {
            return expr instanceof Expr.FloatImm
                    || (expr instanceof Expr.IntImm number
                            && (number.dtype() == DType.INT32 || number.dtype() == DType.INT64));
        }
    }
}
