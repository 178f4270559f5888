// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;

/**
 * Clamps values. Argument: data. For floats, NaN passes through, and limits of plus or minus the largest float have no
 * effect, not even on infinities.
 *
 * @param min smallest value of the result, in the data's own type
 * @param max largest value of the result
 */
public record Clip(double min, double max) implements Op {
    public static final Signature<Clip> SIGNATURE = Signature.of(Clip.class, "clip")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) ->
                            Check.that(op.min <= op.max, "clip limits " + op.min + " and " + op.max + " are crossed")))
            .attributes(Attribute.real("a_min", Clip::min), Attribute.real("a_max", Clip::max), Clip::new)
            .traits(Trait.ELEMENTWISE)
            .compiles(DType.INT8, DType.UINT8, DType.INT16, DType.INT32, DType.FLOAT32)
            .rules(Clip::rules)
            .same();

    @Override
    public Card<Clip> card() {
        return SIGNATURE.of(this);
    }

    private static boolean isWhole(DType dtype, double value) {
        return value == Math.rint(value) && value >= dtype.min() && value <= dtype.max();
    }

    private void rules(Arguments args) {
        DType dtype = args.data().dtype();
        if (dtype == DType.FLOAT32) {
            boolean single = (float) min == min && (float) max == max;
            args.require(single, "limits of clip are not float32", "limits of the data's type");
        } else if (dtype.isInteger()) {
            args.require(
                    isWhole(dtype, min) && isWhole(dtype, max),
                    "limits of clip are " + min + " and " + max,
                    "whole numbers from " + dtype.min() + " to " + dtype.max());
        }
    }
}
