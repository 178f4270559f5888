// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/**
 * A tensor of one value. Argument: the value, a scalar.
 *
 * @param shape shape of the result
 */
public record Full(Shape shape) implements Op {
    public static final Signature<Full> SIGNATURE = Signature.of(Full.class, "full")
            .data("fill value", operand -> operand.rank(0))
            .attributes(Attribute.shape("shape", Full::shape), Full::new)
            .spelled((op, args) ->
                    Spelling.of(op).with("dtype", args.get(0).dtype().text()))
            .result((op, args) -> new TensorType(op.shape, args.get(0).dtype()));

    @Override
    public Card<Full> card() {
        return SIGNATURE.of(this);
    }
}
