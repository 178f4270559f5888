// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.Kernels.entry;

import io.kiln.ir.op.ArgReduce;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Reduce;
import io.kiln.ir.op.TflNormalize;
import io.kiln.ir.op.TflSum;
import java.util.Map;

/** Kernels of the operators that reduce dimensions. */
final class ReductionKernels {
    static final Map<Class<? extends Op>, Kernels.Kernel<Op>> ALL = Map.ofEntries(
            entry(Reduce.class, Reductions::reduce),
            entry(TflSum.class, Reductions::sum),
            entry(TflNormalize.class, Normalizations::normalize),
            entry(ArgReduce.class, Reductions::index));

    private ReductionKernels() {}
}
