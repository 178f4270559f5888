// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.reduce;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.TflDynamicUpdateSlice;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.movement.Movements;
import java.util.Map;

/** Kernels of operators for attention over sequences. */
public final class SequenceKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(TflBatchMatmul.class, MatrixProducts::multiply),
            pure(TflCumsum.class, CumulativeSums::sums),
            pure(TflDynamicUpdateSlice.class, Movements::update));

    private SequenceKernels() {}
}
