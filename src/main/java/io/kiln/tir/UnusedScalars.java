// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.util.ArrayList;
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
}
