// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

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
 * Slices of the data selected by indices along a dimension. Arguments: data, indices (int32; those out of range are
 * clamped).
 *
 * @param axis the dimension, from 0
 * @param batchDims leading dimensions that data and indices share, at most {@code axis}
 */
public record Take(int axis, int batchDims) implements Op {
    private static final int MAX_AXIS = 7;

    public static final Signature<Take> SIGNATURE = Signature.of(Take.class, "take")
            .data("data")
            .data("indices", DType.INT32)
            .attributes(
                    Attribute.whole("axis", Take::axis, 0, MAX_AXIS),
                    Attribute.whole("batch_dims", Take::batchDims, 0, MAX_AXIS)
                            .or("batch_dims", 0)
                            .then("mode", "clip"),
                    Take::new)
            .traits()
            .result(Take::result);

    @Override
    public Card<Take> card() {
        return SIGNATURE.of(this);
    }

    private TensorType result(List<TensorType> args) {
        Shape data = args.get(0).shape();
        Shape indices = args.get(1).shape();
        Check.that(axis >= 0 && axis < data.rank(), "axis " + axis + " is not one of " + data.text());
        Check.that(
                batchDims >= 0
                        && batchDims <= axis
                        && batchDims <= indices.rank()
                        && data.dims()
                                .subList(0, batchDims)
                                .equals(indices.dims().subList(0, batchDims)),
                "batch_dims " + batchDims + " does not fit " + data.text() + " and " + indices.text());
        List<Integer> dims = new ArrayList<>(data.dims().subList(0, axis));
        dims.addAll(indices.dims().subList(batchDims, indices.rank()));
        dims.addAll(data.dims().subList(axis + 1, data.rank()));
        if (!dims.contains(0)) {
            Check.elements(this, args.get(0));
        }
        return new TensorType(new Shape(dims), args.get(0).dtype());
    }
}
