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

    @Override
    public String name() {
        return "tfl.add_n";
    }

    @Override
    public int arity() {
        return count;
    }

    @Override
    public int operands() {
        return count;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "count", count,
                "input_zero_point", inputZeroPoint,
                "output_zero_point", outputZeroPoint,
                "multiplier", by.multiplier(),
                "shift", by.shift());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        for (TensorType arg : args) {
            Check.dtype("data", arg, DType.INT8);
            Check.that(arg.equals(args.get(0)), "tfl.add_n takes tensors of one shape");
        }
        return args.get(0);
    }
}
