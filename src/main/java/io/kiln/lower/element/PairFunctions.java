// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Tables;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;

/** Functions of two bytes: arithmetic if some gives the table's results for all pairs, otherwise the table. */
final class PairFunctions {
    private PairFunctions() {}

    static ElementFunction of(PairLookup op, FusedOperator fused, Tables tables) {
        byte[] results = fused.root().constant(2).data().toArray();
        return switch (op.kind()) {
            case SUM ->
                ProvenAdd.of(results, op.lhs(), op.rhs())
                        .map(sum -> ElementFunction.saturating((block, x) -> sum.emit(x))
                                .named("(sum=proven)")
                                .arithmetic())
                        .orElseGet(() -> table(fused, tables));
            case PRODUCT ->
                ProvenProduct.of(results, op)
                        .map(product -> ElementFunction.saturating((block, x) -> product(op, product, x))
                                .named("(product=proven)"))
                        .orElseGet(() -> table(fused, tables));
            case ANY -> table(fused, tables);
        };
    }

    private static Expr product(PairLookup op, ProvenProduct product, List<Expr> values) {
        Expr x = sub(values.get(0), imm(op.lhsZeroPoint()));
        Expr y = sub(values.get(1), imm(op.rhsZeroPoint()));
        return new Expr.Call(
                Intrinsics.RESCALE_FLOOR,
                List.of(
                        mul(x, y),
                        imm(product.multiplier()),
                        imm(product.offset(), DType.INT64),
                        imm(product.shift())));
    }

    private static ElementFunction table(FusedOperator fused, Tables tables) {
        Constant results = fused.root().constant(2);
        Buffer table = tables.add("table", DType.INT8, results.data());
        long middle = Byte.MIN_VALUE * (PairLookup.SIZE + 1L);
        return ElementFunction.fitting((block, x) ->
                        load(table, sub(add(mul(x.get(0), PairLookup.SIZE), x.get(1)), imm(middle))))
                .named("(table)");
    }
}
