// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.Kernels.entry;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.TflBatchMatmul;
import io.kiln.ir.op.TflCumsum;
import io.kiln.ir.op.TflDynamicUpdateSlice;
import java.util.Map;

/** Kernels of what attention over sequences needs. */
final class SequenceKernels {
    static final Map<Class<? extends Op>, Kernels.Kernel<Op>> ALL = Map.ofEntries(
            entry(TflBatchMatmul.class, MatrixProducts::multiply),
            entry(TflCumsum.class, CumulativeSums::sums),
            entry(TflDynamicUpdateSlice.class, Movements::update));

    private SequenceKernels() {}
}
