// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.OperatorKernel.pure;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.TflBatchMatmul;
import io.kiln.ir.op.TflCumsum;
import io.kiln.ir.op.TflDynamicUpdateSlice;
import java.util.Map;

/** Kernels of what attention over sequences needs. */
final class SequenceKernels {
    static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(TflBatchMatmul.class, MatrixProducts::multiply),
            pure(TflCumsum.class, CumulativeSums::sums),
            pure(TflDynamicUpdateSlice.class, Movements::update));

    private SequenceKernels() {}
}
