// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Mean of int8 along dimensions, in TensorFlow Lite's arithmetic (reference_ops::QuantizedMeanOrSum): with single-precision floats,
 * {@code round(sum / count * scale - inputZeroPoint * scale) + outputZeroPoint}, halves away from zero, where {@code scale = inputScale /
 * outputScale}. As nothing but the sum varies, integers compute the same ({@link io.kiln.ir.arith.MeanRescale}).
 *
 * <p>Arguments: data, input scale, input zero point, output scale, output zero point.
 *
 * @param axes the dimensions, from 0, ascending
 * @param keepDims whether they stay, as dimensions of 1
 */
public record TflMean(List<Integer> axes, boolean keepDims) implements Op {
    public TflMean {
        axes = List.copyOf(axes);
    }

    @Override
    public String name() {
        return "tfl.mean";
    }

    @Override
    public int arity() {
        return 5;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", axes, "keepdims", keepDims ? 1 : 0);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.INT8);
        for (int i = 1; i < 5; i += 2) {
            Check.scalar("scale", args.get(i), DType.FLOAT32);
            Check.scalar("zero point", args.get(i + 1), DType.INT32);
        }
        return new TensorType(Reduce.reduced(args.get(0).shape(), axes, keepDims), DType.INT8);
    }
}
