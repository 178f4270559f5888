// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.HashSet;
import java.util.List;

/**
 * The same elements with dimensions in another order. Argument: data.
 *
 * @param axes for each dimension of the result, the corresponding dimension of the data
 */
public record Transpose(List<Integer> axes) implements Op {
    public static final Signature<Transpose> SIGNATURE = Signature.of(Transpose.class, "transpose")
            .data("data")
            .attributes(Attribute.wholes("axes", Transpose::axes, 0, Integer.MAX_VALUE), Transpose::new)
            .traits()
            .result(Transpose::result);

    @Override
    public Card<Transpose> card() {
        return SIGNATURE.of(this);
    }

    public Transpose {
        axes = List.copyOf(axes);
    }

    private TensorType result(List<TensorType> args) {
        Shape data = args.get(0).shape();
        Check.that(
                axes.size() == data.rank()
                        && new HashSet<>(axes).size() == axes.size()
                        && axes.stream().allMatch(axis -> axis >= 0 && axis < data.rank()),
                "axes " + axes + " are not a permutation of the dimensions of " + data.text());
        return new TensorType(
                new Shape(axes.stream().map(data::dim).toList()), args.get(0).dtype());
    }
}
