// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Accumulation;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
public record TflCumsum(int axis, boolean exclusive, boolean reverse) implements Accumulation {
    /** Fraction bits of a sum of int8. */
    public static final int FRACTION_BITS = 19;

    @Override
    public String name() {
        return "tfl.cumsum";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", axis, "exclusive", exclusive ? 1 : 0, "reverse", reverse ? 1 : 0);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        Check.oneOf("data", data, Set.of(DType.FLOAT32, DType.INT8, DType.INT32, DType.INT64));
        Check.scalar("zero point", args.get(1), DType.INT32);
        Check.that(
                axis >= 0 && axis < data.shape().rank(),
                "axis " + axis + " is not one of " + data.shape().text());
        return data.dtype() == DType.INT8 ? new TensorType(data.shape(), DType.INT32) : data;
    }
}
