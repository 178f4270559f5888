// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Movement;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * The same elements with dimensions in another order. Argument: data.
 *
 * @param axes for each dimension of the result, the corresponding dimension of the data
 */
public record Transpose(List<Integer> axes) implements Movement {
    public Transpose {
        axes = List.copyOf(axes);
    }

    @Override
    public String name() {
        return "transpose";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axes", axes);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
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
