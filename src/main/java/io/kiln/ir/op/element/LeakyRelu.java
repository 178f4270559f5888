// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;

/**
 * {@code x > 0 ? x : alpha * x} of float32. Argument: data.
 *
 * @param alpha slope of the negative side; any number
 */
public record LeakyRelu(float alpha) implements Op {
    public static final Signature<LeakyRelu> SIGNATURE = Signature.of(LeakyRelu.class, "nn.leaky_relu")
            .data("data", DType.FLOAT32)
            .attributes(Attribute.single("alpha", LeakyRelu::alpha), LeakyRelu::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .same();

    @Override
    public Card<LeakyRelu> card() {
        return SIGNATURE.of(this);
    }
}
