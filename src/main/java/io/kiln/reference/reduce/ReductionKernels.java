// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.reduce;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflProduct;
import io.kiln.ir.op.reduce.TflSum;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.layer.Normalizations;
import java.util.Map;

/** Kernels of the operators that reduce dimensions. */
public final class ReductionKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Reduce.class, Reductions::reduce),
            pure(TflProduct.class, Reductions::product),
            pure(TflSum.class, Reductions::sum),
            pure(TflNormalize.class, Normalizations::normalize),
            pure(ArgReduce.class, Reductions::index),
            pure(Topk.class, Reductions::topk));

    private ReductionKernels() {}
}
