// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/**
 * The data repeated along dimensions of 1, or along new dimensions, by NumPy's rule. Argument: data.
 *
 * @param shape shape of the result
 */
public record BroadcastTo(Shape shape) implements Op {
    public static final Signature<BroadcastTo> SIGNATURE = Signature.of(BroadcastTo.class, "broadcast_to")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            Check.broadcast(type.shape(), op.shape).equals(op.shape),
                            type.shape().text() + " does not broadcast to " + op.shape.text())))
            .attributes(Attribute.shape("shape", BroadcastTo::shape), BroadcastTo::new)
            .traits()
            .result((op, args) -> new TensorType(op.shape, args.get(0).dtype()));

    @Override
    public Card<BroadcastTo> card() {
        return SIGNATURE.of(this);
    }
}
