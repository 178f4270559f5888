// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.OperatorKernel.pure;

import io.kiln.ir.op.BroadcastTo;
import io.kiln.ir.op.Concatenate;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Pad;
import io.kiln.ir.op.Resize2d;
import io.kiln.ir.op.StridedSlice;
import io.kiln.ir.op.Take;
import io.kiln.ir.op.Transpose;
import java.util.Map;

/** Kernels of the operators that copy elements, or find them by coordinates. */
final class MovementKernels {
    static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Transpose.class, Movements::transpose),
            pure(StridedSlice.class, Movements::slice),
            pure(Pad.class, Movements::pad),
            pure(Concatenate.class, Movements::concatenate),
            pure(BroadcastTo.class, Movements::broadcast),
            pure(Take.class, Resizes::take),
            pure(Resize2d.class, Resizes::resize));

    private MovementKernels() {}
}
