// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.tir.BlockBuilder.DeclaredNames;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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
            boolean isInvariant =
                    stmt instanceof Stmt.Declare declare && !declare.mutable() && Collections.disjoint(read, changing);
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
