// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.Kernels.entry;

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
    static final Map<Class<? extends Op>, Kernels.Kernel<Op>> ALL = Map.ofEntries(
            entry(Transpose.class, Movements::transpose),
            entry(StridedSlice.class, Movements::slice),
            entry(Pad.class, Movements::pad),
            entry(Concatenate.class, Movements::concatenate),
            entry(BroadcastTo.class, Movements::broadcast),
            entry(Take.class, Resizes::take),
            entry(Resize2d.class, Resizes::resize));

    private MovementKernels() {}
}
