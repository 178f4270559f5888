// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * The data with a part replaced by the update, at a position computed at run time (dynamic_update_slice.cc of
 * TensorFlow Lite Micro): along dimension d from {@code min(max(start[d], 0), data.dim(d) - update.dim(d))}, so that
 * the update lies inside.
 *
 * <p>Arguments: data; update, of the same type and rank and no larger; start, a vector of int32 or int64, one for each
 * dimension.
 */
public record TflDynamicUpdateSlice() implements Op {
    public static final Signature<TflDynamicUpdateSlice> SIGNATURE = Signature.of(
                    TflDynamicUpdateSlice.class, "tfl.dynamic_update_slice")
            .data("data")
            .data("update", operand -> operand.like("data"))
            .data("start", DType.INT32, DType.INT64)
            .attributes(TflDynamicUpdateSlice::new)
            .traits()
            .result(TflDynamicUpdateSlice::result);

    @Override
    public Card<TflDynamicUpdateSlice> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the vector of first indices among the arguments. */
    public static final int START = SIGNATURE.position("start");

    private TensorType result(List<TensorType> args) {
        Shape data = args.get(0).shape();
        Shape update = args.get(1).shape();
        Check.that(
                args.get(START).shape().equals(Shape.of(data.rank())),
                "the start " + args.get(START).shape().text() + " does not have one index for each dimension of "
                        + data.text());
        boolean fits = update.rank() == data.rank();
        for (int axis = 0; fits && axis < data.rank(); axis++) {
            fits = update.dim(axis) <= data.dim(axis);
        }
        Check.that(fits, "the update " + update.text() + " does not fit into " + data.text());
        return args.get(0);
    }
}
