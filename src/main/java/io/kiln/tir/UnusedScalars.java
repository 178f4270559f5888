// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.tir.BlockBuilder.DeclaredNames;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Removes unread constant scalars: a lowering declares scalars before it knows whether they are needed, for example
 * that all rows are at the same position.
 */
public final class UnusedScalars {
    private UnusedScalars() {}

    /** A copy of a statement without its unread constant scalars. */
    public static Stmt remove(Stmt stmt) {
        return stmt instanceof Stmt.Block block ? block(block) : stmt.withInner(UnusedScalars::remove);
    }

    /** Goes from the last statement to the first, so that scalars read only by unused scalars are removed too. */
    private static Stmt.Block block(Stmt.Block block) {
        List<Stmt> kept = new ArrayList<>();
        Set<String> read = new HashSet<>();
        for (int i = block.statements().size() - 1; i >= 0; i--) {
            Stmt stmt = remove(block.statements().get(i));
            boolean unused = stmt instanceof Stmt.Declare declare
                    && !declare.mutable()
                    && !read.contains(declare.variable().name());
            if (!unused) {
                kept.add(0, stmt);
                readBy(stmt, read);
            }
        }
        return new Stmt.Block(kept);
    }

    /** Adds the names of the scalars that a statement reads. */
    static void readBy(Stmt stmt, Set<String> read) {
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(s -> readBy(s, read));
        } else if (stmt instanceof Stmt.For loop) {
            readBy(loop.begin(), read);
            readBy(loop.end(), read);
            readBy(loop.body(), read);
        } else if (stmt instanceof Stmt.While loop) {
            readBy(loop.condition(), read);
            readBy(loop.body(), read);
        } else if (stmt instanceof Stmt.If branch) {
            readBy(branch.condition(), read);
            readBy(branch.then(), read);
            branch.otherwise().ifPresent(s -> readBy(s, read));
        } else if (stmt instanceof Stmt.Switch choice) {
            readBy(choice.value(), read);
            choice.cases().forEach(s -> readBy(s, read));
        } else if (stmt instanceof Stmt.Declare declare) {
            readBy(declare.value(), read);
        } else if (stmt instanceof Stmt.Assign assign) {
            readBy(assign.value(), read);
        } else if (stmt instanceof Stmt.DeclareView view) {
            readBy(view.offset(), read);
        } else if (stmt instanceof Stmt.Store store) {
            readBy(store.index(), read);
            readBy(store.value(), read);
        } else if (stmt instanceof Stmt.CallFunction call) {
            call.scalars().forEach(e -> readBy(e, read));
        } else if (stmt instanceof Stmt.CallKernel call) {
            call.scalars().forEach(e -> readBy(e, read));
        }
    }

    private static void readBy(Expr expr, Set<String> read) {
        if (expr instanceof Expr.Var variable) {
            read.add(variable.name());
        } else if (expr instanceof Expr.Load load) {
            readBy(load.index(), read);
        } else if (expr instanceof Expr.Binary binary) {
            readBy(binary.a(), read);
            readBy(binary.b(), read);
        } else if (expr instanceof Expr.Cast cast) {
            readBy(cast.value(), read);
        } else if (expr instanceof Expr.Select select) {
            readBy(select.condition(), read);
            readBy(select.then(), read);
            readBy(select.otherwise(), read);
        } else if (expr instanceof Expr.Call call) {
            call.args().forEach(e -> readBy(e, read));
        }
    }

    /**
     * Takes out of a loop's body the constant scalars that are the same in every iteration, because they read neither the loop variable
     * nor a scalar that changes with it. Compilers leave them inside where assembly computes them.
     *
     * @param before statements to put before the loop
     * @param inside the other ones
     */
    public record InvariantScalars(List<Stmt> before, Stmt.Block inside) {
        public InvariantScalars {
            before = List.copyOf(before);
        }

        /**
         * Divides the body of a loop.
         *
         * @param body stores to no buffer that its constant scalars load from at a place of another iteration
         * @param variable of the loop
         */
        public static InvariantScalars of(Stmt.Block body, Expr.Var variable) {
            Set<String> changing = new HashSet<>(Set.of(variable.name()));
            List<Stmt> before = new ArrayList<>();
            List<Stmt> inside = new ArrayList<>();
            for (Stmt stmt : body.statements()) {
                Set<String> read = new HashSet<>();
                UnusedScalars.readBy(stmt, read);
                boolean isInvariant = stmt instanceof Stmt.Declare declare
                        && !declare.mutable()
                        && Collections.disjoint(read, changing);
                if (isInvariant) {
                    before.add(stmt);
                } else {
                    inside.add(stmt);
                    changing.addAll(DeclaredNames.of(stmt));
                }
            }
            return new InvariantScalars(before, new Stmt.Block(inside));
        }
    }
}
