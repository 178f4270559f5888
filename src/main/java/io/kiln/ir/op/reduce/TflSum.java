// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Accumulation;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sums of int8 or int16 along dimensions, as int32: {@code sum of (data - zeroPoint)}. A quantized SUM or MEAN of
 * TensorFlow Lite (reference_ops::QuantizedMeanOrSum in reduce.h) is followed by a {@link TflRequantize}, for a mean
 * with the multiplier divided by the number of elements.
 *
 * <p>Arguments: data, its zero point (int32 scalar).
 *
 * @param axes the dimensions, from 0, ascending
 * @param keepDims whether they remain, as dimensions of 1
 */
public record TflSum(List<Integer> axes, boolean keepDims) implements Accumulation, Reduction {
    public TflSum {
        axes = List.copyOf(axes);
    }

    /** The largest magnitude of a term. */
    public static long largestTerm(DType data, int zeroPoint) {
        return Math.max(data.max() - zeroPoint, zeroPoint - data.min());
    }

    /** Number of elements summed for each element of the result. */
    public long terms(Shape data) {
        return axes.stream().mapToLong(data::dim).reduce(1, (a, b) -> a * b);
    }

    @Override
    public String name() {
        return "tfl.sum";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", axes, "keepdims", keepDims ? 1 : 0);
    }

    @Override
    public void check(Arguments args) {
        DType dtype = args.data().dtype();
        args.integers(1, "zero point", zero -> Arguments.isIn(dtype, zero), dtype.min() + " to " + dtype.max());
        long most = Integer.MAX_VALUE / (dtype.max() - dtype.min());
        long terms = terms(args.data().shape());
        args.require(
                terms <= most,
                "sums of " + terms + " elements may exceed 32 bits",
                "at most " + most + " elements in a sum");
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.oneOf("data", args.get(0), Set.of(DType.INT8, DType.INT16));
        Check.scalar("zero point", args.get(1), DType.INT32);
        Check.elements(this, args.get(0));
        return new TensorType(Reduce.reduced(args.get(0).shape(), axes, keepDims), DType.INT32);
    }
}
