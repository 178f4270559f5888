// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Converts to another type (micro/kernels/cast.cc), defined for all numbers, unlike Relay's {@code cast}. Integers keep
 * their low bits; float32 is truncated towards zero, saturates at 32 bits, or 64 (NaN becomes 0), and keeps the low bits of
 * that. Argument: data.
 *
 * @param dtype type of the result
 */
public record Cast(DType dtype) implements Op {
    public Cast {
        Check.that(dtype != DType.BOOL, "a cast to " + dtype.text() + " is not supported");
    }

    @Override
    public String name() {
        return "tfl.cast";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("dtype", dtype.text());
    }

    /** TVM's operator does not define the result for floats outside the integer type's range. */
    @Override
    public Spelling spelling(List<TensorType> args) {
        boolean saturates = args.get(0).dtype().isFloat() && !dtype.isFloat();
        return saturates ? Spelling.own(this) : Spelling.standard("cast", attributes());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        return new TensorType(args.get(0).shape(), dtype);
    }
}
