// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

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

    @Override
    public String name() {
        return "tfl.leaky_relu";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "input_zero_point", inputZeroPoint,
                "output_zero_point", outputZeroPoint,
                "positive_multiplier", positive.multiplier(),
                "positive_shift", positive.shift(),
                "negative_multiplier", negative.multiplier(),
                "negative_shift", negative.shift());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.INT16);
        return args.get(0);
    }
}
