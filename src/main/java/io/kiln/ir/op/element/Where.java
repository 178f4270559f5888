// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;

/**
 * An element of x where the condition is true, otherwise of y, with broadcasting. Arguments: condition (bool), x, y of
 * one type.
 */
public record Where() implements Op {
    public static final Signature<Where> SIGNATURE = Signature.of(Where.class, "where")
            .data("condition", DType.BOOL)
            .data("x")
            .data("y", operand -> operand.like("x"))
            .attributes(Where::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .broadcast("x");

    @Override
    public Card<Where> card() {
        return SIGNATURE.of(this);
    }
}
