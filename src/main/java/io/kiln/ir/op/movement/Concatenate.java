// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Concatenates tensors along a dimension. Arguments: the tensors, of one type and equal in all other dimensions.
 *
 * @param axis the dimension, from 0
 * @param arity number of tensors, 1 or more
 */
public record Concatenate(int axis, int arity) implements Op {
    public static final Signature<Concatenate> SIGNATURE = Signature.of(Concatenate.class, "concatenate")
            .data(
                    "a part",
                    operand -> operand.times(Concatenate::arity)
                            .fits((what, type, op, args) ->
                                    Check.dtype(what, type, args.get(0).dtype())))
            .text(op -> Map.of("axis", op.axis))
            .traits()
            .spelled((op, args) -> Spelling.of(op).in(Spelling.Form.TUPLE))
            .result(Concatenate::result);

    @Override
    public Card<Concatenate> card() {
        return SIGNATURE.of(this);
    }

    private TensorType result(List<TensorType> args) {
        TensorType first = args.get(0);
        Check.that(axis >= 0, "axis " + axis + " is negative");
        Check.axis(first, axis);
        int size = 0;
        for (TensorType arg : args) {
            boolean alike = arg.shape().rank() == first.shape().rank();
            for (int i = 0; alike && i < first.shape().rank(); i++) {
                alike = i == axis || arg.shape().dim(i) == first.shape().dim(i);
            }
            Check.that(
                    alike,
                    "shapes " + first.shape().text() + " and " + arg.shape().text() + " differ beside axis " + axis);
            size = Check.dimension((long) size + arg.shape().dim(axis));
        }
        return new TensorType(first.shape().with(axis, size), first.dtype());
    }
}
