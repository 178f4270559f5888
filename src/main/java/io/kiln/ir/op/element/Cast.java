// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Converts to another type (micro/kernels/cast.cc), defined for all numbers, unlike Relay's {@code cast}. Integers keep
 * their low bits; float32 is truncated towards zero, saturates at 32 bits, or 64 (NaN becomes 0), and keeps the low bits of
 * that. Argument: data.
 *
 * @param dtype type of the result
 */
public record Cast(DType dtype) implements Op {
    public static final Signature<Cast> SIGNATURE = Signature.of(Cast.class, "tfl.cast")
            .data("data")
            .attributes(
                    Attribute.dtype(
                            "dtype",
                            Cast::dtype,
                            DType.INT8,
                            DType.UINT8,
                            DType.INT16,
                            DType.INT32,
                            DType.UINT32,
                            DType.INT64,
                            DType.UINT64,
                            DType.FLOAT32),
                    Cast::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .spelled(Cast::form)
            .to(Cast::dtype);

    @Override
    public Card<Cast> card() {
        return SIGNATURE.of(this);
    }

    public Cast {
        Check.that(dtype != DType.BOOL, "a cast to " + dtype.text() + " is not supported");
    }

    /** TVM's operator does not define the result for floats outside the integer type's range. */
    private Spelling form(List<TensorType> args) {
        boolean saturates = args.get(0).dtype().isFloat() && !dtype.isFloat();
        return saturates ? Spelling.own(this) : Spelling.standard("cast", attributes());
    }
}
