// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/**
 * The same elements under other dimensions. Argument: data.
 *
 * @param shape the new dimensions, all known
 */
public record Reshape(Shape shape) implements Op {
    public static final Signature<Reshape> SIGNATURE = Signature.of(Reshape.class, "reshape")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            type.shape().elements() == op.shape.elements(),
                            "reshape from " + type.shape().text() + " to " + op.shape.text()
                                    + " changes the number of elements")))
            .attributes(Attribute.shape("newshape", Reshape::shape), Reshape::new)
            .traits(Trait.VIEW)
            .result((op, args) -> new TensorType(op.shape, args.get(0).dtype()));

    @Override
    public Card<Reshape> card() {
        return SIGNATURE.of(this);
    }
}
