// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.OperatorKernel.pure;

import io.kiln.ir.op.ArgReduce;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Reduce;
import io.kiln.ir.op.TflNormalize;
import io.kiln.ir.op.TflSum;
import java.util.Map;

/** Kernels of the operators that reduce dimensions. */
final class ReductionKernels {
    static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Reduce.class, Reductions::reduce),
            pure(TflSum.class, Reductions::sum),
            pure(TflNormalize.class, Normalizations::normalize),
            pure(ArgReduce.class, Reductions::index));

    private ReductionKernels() {}
}
