// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Quantized element-wise sum with broadcasting, in TensorFlow Lite's arithmetic.
 *
 * <p>Arguments: lhs, rhs, lhs scale, lhs zero point, rhs scale, rhs zero point, output scale, output zero point. With
 * {@code twice = 2 * max(lhsScale, rhsScale)}: both sides are shifted left by 20, rescaled by {@code scale / twice},
 * summed, rescaled by {@code twice / (2^20 * outputScale)} and saturated (reference_integer_ops::Add).
 */
public record QnnAdd() implements Op {
    @Override
    public String name() {
        return "qnn.add";
    }

    @Override
    public int arity() {
        return 8;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("rounding", "TFLITE");
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("rhs", args.get(1), args.get(0).dtype());
        for (int i = 2; i < 8; i += 2) {
            Check.scalar("scale", args.get(i), DType.FLOAT32);
            Check.scalar("zero point", args.get(i + 1), DType.INT32);
        }
        return new TensorType(
                Check.broadcast(args.get(0).shape(), args.get(1).shape()),
                args.get(0).dtype());
    }
}
