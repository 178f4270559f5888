// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Index of the first largest or smallest element along a dimension, as int32. Argument: data.
 *
 * @param largest whether it is the largest
 * @param axis the dimension, from 0; it is removed
 */
public record ArgReduce(boolean largest, int axis) implements Reduction {
    private static final int MAX_AXIS = 7;

    /** That of the smallest, that of the largest. */
    public static final List<Signature<ArgReduce>> SIGNATURES = List.of(signature(false), signature(true));

    private static Signature<ArgReduce> signature(boolean largest) {
        return Signature.of(ArgReduce.class, largest ? "argmax" : "argmin")
                .data(
                        "data",
                        operand -> operand.fits((what, type, op, args) -> Check.ordered(op, type))
                                .filled())
                .attributes(
                        Attribute.wholes("axis", ArgReduce::axes, 0, MAX_AXIS, 1)
                                .then("keepdims", 0)
                                .then("select_last_index", 0),
                        axes -> new ArgReduce(largest, axes.get(0)))
                .result((op, args) ->
                        new TensorType(Reduce.reduced(args.get(0).shape(), op.axes(), false), DType.INT32));
    }

    @Override
    public Card<ArgReduce> card() {
        return SIGNATURES.get(largest ? 1 : 0).of(this);
    }

    @Override
    public List<Integer> axes() {
        return List.of(axis);
    }

    @Override
    public boolean keepDims() {
        return false;
    }
}
