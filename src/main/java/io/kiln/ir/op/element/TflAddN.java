// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;

/**
 * The sum of several int8 tensors of one shape, scale and zero point (reference/add_n.h): {@code saturate(outputZeroPoint +
 * MultiplyByQuantizedMultiplier(2^19 * (sum - (count + 1) * inputZeroPoint), by))}. The reference kernel starts from a zero that is not
 * the zero point, hence {@code count + 1}. Arguments: the tensors.
 *
 * @param count number of tensors
 * @param inputZeroPoint zero point of every tensor
 * @param outputZeroPoint zero point of the sum
 * @param by multiplier below 1
 */
public record TflAddN(int count, int inputZeroPoint, int outputZeroPoint, QuantizedMultiplier by) implements Op {
    public static final Signature<TflAddN> SIGNATURE = Signature.of(TflAddN.class, "tfl.add_n")
            .data(
                    "data",
                    operand -> operand.times(TflAddN::count)
                            .fits((what, type, op, args) ->
                                    Check.that(type.equals(args.get(0)), "tfl.add_n takes tensors of one shape")),
                    DType.INT8)
            .attributes(
                    Attribute.whole("count", TflAddN::count, 2, TflAddN.MOST),
                    Attribute.whole("input_zero_point", TflAddN::inputZeroPoint, Byte.MIN_VALUE, Byte.MAX_VALUE),
                    Attribute.whole("output_zero_point", TflAddN::outputZeroPoint, Byte.MIN_VALUE, Byte.MAX_VALUE),
                    Attribute.multiplier("", TflAddN::by, 0, 1 - Integer.SIZE, 0),
                    TflAddN::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .same();

    @Override
    public Card<TflAddN> card() {
        return SIGNATURE.of(this);
    }

    /** One step of the tensors' scale, scaled up. */
    public static final int STEP = 1 << 19;

    private static final int STEPS = 255;

    /** A larger count could overflow 32 bits. */
    public static final int MOST = Integer.MAX_VALUE / STEP / STEPS - 1;

    public TflAddN {
        Check.that(count >= 2 && count <= MOST, "tfl.add_n takes 2 to " + MOST + " tensors, not " + count);
        Check.that(
                inputZeroPoint == (byte) inputZeroPoint && outputZeroPoint == (byte) outputZeroPoint,
                "zero points of tfl.add_n must be int8, not " + inputZeroPoint + " and " + outputZeroPoint);
        Check.that(
                by.multiplier() >= 0 && by.shift() <= 0 && by.shift() > -Integer.SIZE,
                "tfl.add_n takes a multiplier below 1, not " + by);
    }
}
