// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.movement;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.reference.kernel.OperatorKernel;
import java.util.Map;

/** Kernels of the operators that copy or look up elements. */
public final class MovementKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Transpose.class, Movements::transpose),
            pure(StridedSlice.class, Movements::slice),
            pure(Pad.class, Movements::pad),
            pure(Concatenate.class, Movements::concatenate),
            pure(BroadcastTo.class, Movements::broadcast),
            pure(Take.class, Resizes::take),
            pure(ScatterNd.class, Movements::scatter),
            pure(Resize2d.class, Resizes::resize));

    private MovementKernels() {}
}
