// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.load;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.lower.SumKernels.Group;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;

/**
 * Requantizes accumulators one by one, by the shortest instructions that are proven for their multiplier and bound.
 *
 * @param group the sums
 * @param isWide whether they are rounded once, as those of int16 data are
 */
public record WordRequantizer(Group group, boolean isWide) implements SumKernels.Requantizer {
    @Override
    public void emit(BlockBuilder code, int count, Buffer sums, Buffer results) {
        for (int i = 0; i < group.by().size(); i++) {
            QuantizedMultiplier by = group.by().get(i);
            long first = (long) i * count;
            code.loop("r", count, (each, r) -> {
                Expr at = add(r, first);
                Expr sum = each.let("sum", load(sums, at));
                Expr value = isWide
                        ? Int16Requantize.emit(sum, by, group.bound())
                        : RequantizeCalls.of(sum, by, group.bound());
                each.store(results, at, result(value, by, load(results, at)));
            });
        }
    }

    private Expr result(Expr value, QuantizedMultiplier by, Expr old) {
        return switch (group.result()) {
            case SHORT -> saturated(value);
            case SHORT_ADDED -> saturated(add(saturated(value), old));
            case BYTE ->
                new Expr.Call(
                        Intrinsics.SATURATE_8,
                        List.of(RequantizeCalls.plus(
                                value, group.zeroPoint(), RequantizeCalls.largest(by, group.bound()))));
        };
    }

    private static Expr saturated(Expr value) {
        return new Expr.Call(Intrinsics.SATURATE_16, List.of(value));
    }
}
