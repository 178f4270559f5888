// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;

/** The same value in its own memory, for example for an output that is a constant. Argument: data. */
public record Copy() implements Op {
    public static final Signature<Copy> SIGNATURE = Signature.of(Copy.class, "copy")
            .data("data")
            .attributes(Copy::new)
            .traits(Trait.COPY, Trait.TAKES_CLIP)
            .same();

    @Override
    public Card<Copy> card() {
        return SIGNATURE.of(this);
    }
}
