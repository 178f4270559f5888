// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Indices, as int32, of the largest or smallest elements of each vector along the last dimension, in order; of equal elements the one of
 * the lower index comes first. Data with NaN gives indices of the data, in no order. Argument: data.
 *
 * @param k how many, from 1 to the size of the last dimension
 * @param isAscend whether they are the smallest
 */
public record Topk(int k, boolean isAscend) implements Op {
    public static final Signature<Topk> SIGNATURE = Signature.of(Topk.class, "topk")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) -> Check.ordered(op, type))
                            .vectors())
            .attributes(
                    Attribute.whole("k", Topk::k, 1).then("axis", -1).then("ret_type", "indices"),
                    Attribute.truth("is_ascend", Topk::isAscend).then("dtype", "int32"),
                    Topk::new)
            .traits()
            .result(Topk::result);

    @Override
    public Card<Topk> card() {
        return SIGNATURE.of(this);
    }

    private TensorType result(List<TensorType> args) {
        Check.ordered(this, args.get(0));
        Shape data = args.get(0).shape();
        Check.that(
                k >= 1 && k <= data.dim(-1),
                "topk: k is " + k + ", but the vectors of " + data.text() + " are shorter");
        return new TensorType(data.with(-1, k), DType.INT32);
    }
}
