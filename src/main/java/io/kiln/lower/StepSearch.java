// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;

/** Searches a table of ascending steps. */
public final class StepSearch {
    private StepSearch() {}

    /** Emits the search of a block that has only one. */
    public static Expr of(BlockBuilder block, Buffer steps, Expr first, int count, Expr value) {
        return of(block, "", steps, first, count, value);
    }

    /**
     * The number of steps that are not above a value.
     *
     * @param suffix makes names unique where a block has several searches
     * @param first index of the first step
     * @param count number of steps, a power of two less 1
     */
    static Expr of(BlockBuilder block, String suffix, Buffer steps, Expr first, int count, Expr value) {
        Expr found = imm(0);
        for (int more = (count + 1) / 2; more > 0; more /= 2) {
            Expr step = load(steps, add(first, add(found, more - 1L)));
            Expr taken = Exprs.select(Exprs.ge(value, step), imm(more), imm(0));
            found = block.let("above" + more + suffix, add(found, taken));
        }
        return found;
    }
}
