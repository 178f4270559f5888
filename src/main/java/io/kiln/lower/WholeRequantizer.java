// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.shr;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.lower.SumKernels.Group;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;

/**
 * Adds requantized accumulators to the int16 that are there, one by one; only the results saturate, other than with
 * {@link SumKernels.Result#SHORT_ADDED}.
 *
 * @param group the sums
 * @param areDoubled whether they are stored doubled
 */
public record WholeRequantizer(Group group, boolean areDoubled) implements SumKernels.Requantizer {
    @Override
    public void emit(BlockBuilder code, int count, Buffer sums, Buffer results) {
        for (int i = 0; i < group.by().size(); i++) {
            QuantizedMultiplier by = group.by().get(i);
            long first = (long) i * count;
            code.loop("r", count, (each, r) -> {
                Expr at = add(r, first);
                Expr stored = load(sums, at);
                Expr sum = each.let("sum", areDoubled ? shr(stored, imm(1)) : stored);
                Expr value = RequantizeCalls.plusShort(
                        RequantizeCalls.of(sum, by, group.bound()), load(results, at), by, group.bound());
                each.store(results, at, new Expr.Call(Intrinsics.SATURATE_16, List.of(value)));
            });
        }
    }
}
