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
import java.util.List;
import java.util.function.Function;

/**
 * A quantized function of two slopes, for int16 (reference/leaky_relu.h): {@code saturate(outputZeroPoint +
 * MultiplyByQuantizedMultiplier(x, by))} with {@code x = data - inputZeroPoint}. Absolute values have a second slope of
 * the opposite sign. Argument: data.
 *
 * @param inputZeroPoint subtracted from the data
 * @param outputZeroPoint added to the result
 * @param positive {@code by} if x is 0 or more
 * @param negative {@code by} if x is below 0; its multiplier may be negative
 */
public record TflLeakyRelu(
        int inputZeroPoint, int outputZeroPoint, QuantizedMultiplier positive, QuantizedMultiplier negative)
        implements Op {
    public static final Signature<TflLeakyRelu> SIGNATURE = Signature.of(TflLeakyRelu.class, "tfl.leaky_relu")
            .data("data", DType.INT16)
            .attributes(
                    Attribute.whole("input_zero_point", TflLeakyRelu::inputZeroPoint, Short.MIN_VALUE, Short.MAX_VALUE),
                    Attribute.whole(
                            "output_zero_point", TflLeakyRelu::outputZeroPoint, Short.MIN_VALUE, Short.MAX_VALUE),
                    slope("positive_", TflLeakyRelu::positive),
                    slope("negative_", TflLeakyRelu::negative),
                    TflLeakyRelu::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .same();

    @Override
    public Card<TflLeakyRelu> card() {
        return SIGNATURE.of(this);
    }

    private static final int MOST_SHIFT = 31;

    public TflLeakyRelu {
        for (QuantizedMultiplier by : List.of(positive, negative)) {
            Check.that(
                    by.shift() >= -MOST_SHIFT && by.shift() < MOST_SHIFT && by.multiplier() > Integer.MIN_VALUE,
                    "tfl.leaky_relu takes shifts from -31 to 30, not " + by.shift());
        }
        Check.that(
                inputZeroPoint == (short) inputZeroPoint && outputZeroPoint == (short) outputZeroPoint,
                "zero points of tfl.leaky_relu must be int16, not " + inputZeroPoint + " and " + outputZeroPoint);
    }

    private static Attribute<TflLeakyRelu, QuantizedMultiplier> slope(
            String prefix, Function<TflLeakyRelu, QuantizedMultiplier> get) {
        return Attribute.multiplier(prefix, get, -Integer.MAX_VALUE, -MOST_SHIFT, MOST_SHIFT - 1);
    }
}
