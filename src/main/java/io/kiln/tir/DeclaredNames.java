// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.util.HashSet;
import java.util.Set;

/** The names declared by a statement, at any depth: variables, loop variables, pointers. */
final class DeclaredNames {
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
