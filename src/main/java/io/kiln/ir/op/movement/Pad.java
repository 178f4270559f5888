// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Movement;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The data with a constant value around it. Arguments: data, value (a scalar of the data's type).
 *
 * @param before elements added before the data along each dimension
 * @param after elements added after the data
 */
public record Pad(List<Integer> before, List<Integer> after) implements Movement {
    public Pad {
        before = List.copyOf(before);
        after = List.copyOf(after);
    }

    @Override
    public String name() {
        return "nn.pad";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        List<List<Integer>> widths = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            widths.add(List.of(before.get(i), after.get(i)));
        }
        return Check.attributes("pad_width", widths, "pad_mode", "constant");
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Shape data = args.get(0).shape();
        Check.scalar("pad value", args.get(1), args.get(0).dtype());
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
}
