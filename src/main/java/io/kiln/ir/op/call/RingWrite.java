// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the newest slots of a sequence over its oldest ones, where they lie. Arguments: data (..., m, ...); the slots, a variable (..., n,
 * ...) with n a multiple of m; a variable, an int32 vector of one element: the place of the oldest slot, which moves on by m and begins
 * anew at n. A place that is not from 0 to n - m counts as the nearest that is.
 *
 * @param axis the dimension of the slots, from 0
 */
public record RingWrite(int axis) implements Op {
    public static final Signature<RingWrite> SIGNATURE = Signature.of(RingWrite.class, "tfl.ring_write")
            .data("data")
            .state("slots", operand -> operand.fits((what, type, op, args) -> op.fit(args.get(0), type)))
            .state(
                    "place",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            type.shape().equals(Shape.of(1)), "a place must be one number, not " + type.text())),
                    DType.INT32)
            .attributes(Attribute.whole("axis", RingWrite::axis, 0), RingWrite::new)
            .nothing();

    /** Position of the slots among the arguments. */
    public static final int SLOTS = SIGNATURE.position("slots");

    /** Position of the place among the arguments. */
    public static final int PLACE = SIGNATURE.position("place");

    @Override
    public Card<RingWrite> card() {
        return SIGNATURE.of(this);
    }

    private void fit(TensorType data, TensorType slots) {
        Check.axis(slots, axis);
        List<Integer> expected = new ArrayList<>(slots.shape().dims());
        boolean isAlike = data.shape().rank() == expected.size();
        if (isAlike) {
            expected.set(axis, data.shape().dim(axis));
        }
        Check.that(
                isAlike
                        && data.dtype() == slots.dtype()
                        && data.shape().dims().equals(expected)
                        && data.shape().elements() > 0
                        && slots.shape().dim(axis) % data.shape().dim(axis) == 0,
                data.text() + " are not slots of " + slots.text() + " along axis " + axis);
    }
}
