// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * TensorFlow Lite's fixed-point softmax of int8 over the last axis (reference_ops::Softmax on gemmlowp fixed point).
 *
 * <p>Arguments: data, input scale, input zero point, output scale (1/256, of int16 1/65536), output zero point (the type's least value).
 *
 * @param beta factor on the data before the exponential
 * @param outDtype int8, or int16 for a result of more bits
 */
public record TflSoftmax(float beta, DType outDtype) implements Op {
    /** With a result of int8. */
    public TflSoftmax(float beta) {
        this(beta, DType.INT8);
    }

    @Override
    public String name() {
        return "tfl.softmax";
    }

    @Override
    public int arity() {
        return 5;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", -1, "beta", (double) beta, "out_dtype", outDtype.text());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.scalar("input scale", args.get(1), DType.FLOAT32);
        Check.scalar("input zero point", args.get(2), DType.INT32);
        Check.scalar("output scale", args.get(3), DType.FLOAT32);
        Check.scalar("output zero point", args.get(4), DType.INT32);
        Check.that(
                outDtype == DType.INT8 || outDtype == DType.INT16,
                "the result must be int8 or int16, not " + outDtype.text());
        return new TensorType(args.get(0).shape(), outDtype);
    }
}
