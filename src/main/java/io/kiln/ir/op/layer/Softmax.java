// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;

/**
 * Softmax of float32 over the last axis. Argument: data.
 *
 * @param beta factor on the data before the exponential
 */
public record Softmax(float beta) implements Op {
    public static final Signature<Softmax> SIGNATURE = Signature.of(Softmax.class, "nn.softmax")
            .data("data", DType.FLOAT32)
            .says("axis", -1)
            .attributes(Attribute.single("beta", Softmax::beta).unless("beta", 1f), Softmax::new)
            .spelled((op, args) -> op.beta == 1 ? Spelling.of(op) : Spelling.own(op))
            .rules((op, args) -> args.softmax(op.beta))
            .same();

    @Override
    public Card<Softmax> card() {
        return SIGNATURE.of(this);
    }
}
