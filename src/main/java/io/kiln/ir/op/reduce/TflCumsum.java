// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.TensorType;

/**
 * Cumulative sums along a dimension; unlike Relay's {@code cumsum} also backwards. Sums of float32, int32 and int64
 * have the same type; integers wrap around.
 *
 * <p>For int8 the result is int32, {@code 2^19 * (sum of (data - zeroPoint) - zeroPoint)}, wrapping around: TensorFlow
 * Lite Micro's kernel (reference_ops::CumSum in cumsum.h, cumsum.cc) starts every sum with the zero point, and rescales
 * afterwards ({@link TflRequantize}).
 *
 * <p>Arguments: data, zero point (int32 scalar; 0 except for int8).
 *
 * @param axis the dimension, from 0
 * @param exclusive whether an element is excluded from its own sum
 * @param reverse whether sums start at the end of the dimension
 */
public record TflCumsum(int axis, boolean exclusive, boolean reverse) implements Op {
    private static final int MAX_AXIS = 7;

    public static final Signature<TflCumsum> SIGNATURE = Signature.of(TflCumsum.class, "tfl.cumsum")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            op.axis >= 0 && op.axis < type.shape().rank(),
                            "axis " + op.axis + " is not one of " + type.shape().text())),
                    DType.FLOAT32,
                    DType.INT8,
                    DType.INT32,
                    DType.INT64)
            .number("zero point")
            .attributes(
                    Attribute.whole("axis", TflCumsum::axis, 0, MAX_AXIS),
                    Attribute.truth("exclusive", TflCumsum::exclusive),
                    Attribute.truth("reverse", TflCumsum::reverse),
                    TflCumsum::new)
            .traits(Trait.TAKES_CLIP, Trait.ACCUMULATES)
            .rules((op, args) -> args.integers(
                    1,
                    "zero point",
                    zero -> zero == 0 || args.data().dtype() == DType.INT8,
                    "0 for other types than int8"))
            .result((op, args) -> args.get(0).dtype() == DType.INT8
                    ? new TensorType(args.get(0).shape(), DType.INT32)
                    : args.get(0));

    @Override
    public Card<TflCumsum> card() {
        return SIGNATURE.of(this);
    }

    /** Fraction bits of a sum of int8. */
    public static final int FRACTION_BITS = 19;
}
