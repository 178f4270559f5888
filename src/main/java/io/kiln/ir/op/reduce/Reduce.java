// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One element for all those along some dimensions: their sum or mean (float32; int32, whose sum wraps around and whose
 * mean is truncated towards zero), their product (these and int64), or the largest or smallest (any type). Argument: data.
 *
 * @param kind the function
 * @param axes the dimensions, from 0, ascending
 * @param keepDims whether they remain, as dimensions of 1
 */
public record Reduce(Kind kind, List<Integer> axes, boolean keepDims) implements Reduction {
    private static final int MAX_AXIS = 7;

    public static final Map<Kind, Signature<Reduce>> SIGNATURES = Signature.ofEach(Kind.class, Reduce::signature);

    private static Signature<Reduce> signature(Kind kind) {
        boolean isOrder = kind == Kind.MAX || kind == Kind.MIN;
        return Signature.of(Reduce.class, kind.text)
                .data(
                        "data",
                        operand -> operand.fits((what, type, op, args) -> Check.that(
                                        isOrder
                                                || type.dtype().isFloat()
                                                || type.dtype() == DType.INT32
                                                || (kind == Kind.PROD && type.dtype() == DType.INT64),
                                        "the " + kind.text + " of "
                                                + type.dtype().text() + " is not supported"))
                                .fits((what, type, op, args) -> Check.ordered(op, type))
                                .filled())
                .attributes(
                        Attribute.axes("axis", Reduce::axes, MAX_AXIS),
                        Attribute.truth("keepdims", Reduce::keepDims),
                        (axes, keepDims) -> new Reduce(kind, axes, keepDims))
                .result((op, args) -> new TensorType(
                        reduced(args.get(0).shape(), op.axes, op.keepDims),
                        args.get(0).dtype()));
    }

    @Override
    public Card<Reduce> card() {
        return SIGNATURES.get(kind).of(this);
    }

    public Reduce {
        axes = List.copyOf(axes);
    }

    /** The functions, by Relay's names. */
    public enum Kind {
        SUM("sum"),
        /** The product; of int32 and int64 it wraps around. */
        PROD("prod"),
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
