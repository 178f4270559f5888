// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.op.reduce.TflProduct;
import io.kiln.ir.op.reduce.TflSum;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.lower.OperatorLowering;
import java.util.Map;

/** Lowerings of operators that combine elements along dimensions: reductions, cumulative sums, products of matrices. */
public final class SumLowerings {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            entry(Reduce.class, (op, reduce, rows, c) -> ReduceLowering.reduce(op, reduce, rows)),
            entry(TflProduct.class, (op, product, rows, c) -> ReduceLowering.product(op, product, rows)),
            entry(TflSum.class, (op, sum, rows, c) -> ReduceLowering.sum(op, sum, rows)),
            entry(ArgReduce.class, (op, arg, rows, c) -> ReduceLowering.index(op, arg, rows)),
            simple(Topk.class, TopkLowering::lower),
            simple(TflCumsum.class, (op, rows) -> new CumsumLowering(op).lower(rows)),
            entry(
                    TflBatchMatmul.class,
                    (op, product, rows, c) -> PanelProduct.of(op, c)
                            .map(panels -> panels.lower(rows))
                            .or(() -> MatrixProduct.of(op, c).map(matrices -> matrices.lower(rows)))
                            .orElseGet(() -> new BatchMatmulLowering(op).lower(rows))));

    private SumLowerings() {}
}
