// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** A property of operators for passes and lowerings. */
public enum Trait {
    /** The result is the data under other dimensions: it needs no code and no memory of its own. */
    VIEW,

    /** The result is the data in memory of its own, even if the data is constant. */
    COPY,

    /** Computes each element from the elements at its place, so that operands in another order give the result in that order. */
    ELEMENTWISE,

    /** Computed by the user's C or an NPU only: it cannot be interpreted or evaluated at build time. */
    OPAQUE,

    /** Its loops can clamp each element that they store, so that a clip after it needs no loops of its own. */
    TAKES_CLIP,

    /** Not a {@link Layer}, but its loops can add a constant to the sums of each channel, as those of layers do. */
    TAKES_BIAS,

    /** Sums of narrow integers are wider than the data, and its loops can rescale each sum as they store it. */
    ACCUMULATES,

    /** Rescales sums: it can be fused into the loops of an operator that {@linkplain #ACCUMULATES accumulates}. */
    RESCALES
}
