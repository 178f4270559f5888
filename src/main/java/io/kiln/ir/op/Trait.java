// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.ir.op.element.Clip;

/** What passes and lowerings ask of an operator, whichever it is. */
public enum Trait {
    /** The result is the data in other dimensions: it needs no code and no memory of its own. */
    VIEW,

    /** The result is the data in memory of its own, even if the data is constant. */
    COPY,

    /** Only C of the user's knows what it computes: it can be neither interpreted nor computed at build time. */
    OPAQUE,

    /** Its loops can limit each element that they store, so that a {@link Clip} behind it needs no loops of its own. */
    TAKES_CLIP,

    /** Sums of narrow integers are wider than the data, and its loops can rescale each sum as they store it. */
    ACCUMULATES,

    /** Rescales sums: it can be computed in the loops of an operator that {@linkplain #ACCUMULATES accumulates}. */
    RESCALES
}
