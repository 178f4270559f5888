// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One element for all those along some dimensions: their sum or mean (float32; int32, whose sum wraps around and whose
 * mean is truncated towards zero), or the largest or smallest (any type). Argument: data.
 *
 * @param kind the function
 * @param axes the dimensions, from 0, ascending
 * @param keepDims whether they remain, as dimensions of 1
 */
public record Reduce(Kind kind, List<Integer> axes, boolean keepDims) implements Reduction {
    public Reduce {
        axes = List.copyOf(axes);
    }

    /** The functions, by Relay's names. */
    public enum Kind {
        SUM("sum"),
        MEAN("mean"),
        MAX("max"),
        MIN("min");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    @Override
    public String name() {
        return kind.text();
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", axes, "keepdims", keepDims ? 1 : 0);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.that(
                kind == Kind.MAX
                        || kind == Kind.MIN
                        || args.get(0).dtype().isFloat()
                        || args.get(0).dtype() == DType.INT32,
                "the " + kind.text() + " of " + args.get(0).dtype().text() + " is not supported");
        Check.ordered(this, args.get(0));
        Check.elements(this, args.get(0));
        return new TensorType(
                reduced(args.get(0).shape(), axes, keepDims), args.get(0).dtype());
    }

    /** Shape of the result. */
    static Shape reduced(Shape data, List<Integer> axes, boolean keepDims) {
        Check.that(
                axes.stream().allMatch(axis -> axis >= 0 && axis < data.rank()),
                "axes " + axes + " are not those of " + data.text());
        List<Integer> dims = new ArrayList<>();
        for (int axis = 0; axis < data.rank(); axis++) {
            if (!axes.contains(axis)) {
                dims.add(data.dim(axis));
            } else if (keepDims) {
                dims.add(1);
            }
        }
        return new Shape(dims);
    }
}
