// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

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
 * The data with a constant value around it. Arguments: data, value (a scalar of the data's type).
 *
 * @param before elements added before the data along each dimension
 * @param after elements added after the data
 */
public record Pad(List<Integer> before, List<Integer> after) implements Op {
    public static final Signature<Pad> SIGNATURE = Signature.of(Pad.class, "nn.pad")
            .data("data")
            .constant("pad value", operand -> operand.like("data").scalar())
            .attributes(
                    Attribute.pairs("pad_width", Pad::widths, 0, Integer.MAX_VALUE)
                            .then("pad_mode", "constant"),
                    widths -> new Pad(side(widths, 0), side(widths, 1)))
            .traits()
            .result(Pad::result);

    @Override
    public Card<Pad> card() {
        return SIGNATURE.of(this);
    }

    public Pad {
        before = List.copyOf(before);
        after = List.copyOf(after);
    }

    private TensorType result(List<TensorType> args) {
        Shape data = args.get(0).shape();
        Check.that(
                before.size() == data.rank() && after.size() == data.rank(),
                "padding " + before + " and " + after + " does not fit " + data.text());
        List<Integer> dims = new ArrayList<>();
        for (int i = 0; i < data.rank(); i++) {
            Check.that(before.get(i) >= 0 && after.get(i) >= 0, "padding must not be negative");
            dims.add(Check.dimension((long) data.dim(i) + before.get(i) + after.get(i)));
        }
        return new TensorType(new Shape(dims), args.get(0).dtype());
    }

    private List<List<Integer>> widths() {
        List<List<Integer>> widths = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            widths.add(List.of(before.get(i), after.get(i)));
        }
        return widths;
    }

    private static List<Integer> side(List<List<Integer>> widths, int index) {
        return widths.stream().map(width -> width.get(index)).toList();
    }
}
