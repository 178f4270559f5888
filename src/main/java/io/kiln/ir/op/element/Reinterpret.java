// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * The bits of float32 as int32, or of int32 as float32, as in ONNX's {@code BitCast}. Argument: data.
 *
 * @param dtype type of the result, the other of the two
 */
public record Reinterpret(DType dtype) implements Op {
    public static final Signature<Reinterpret> SIGNATURE = Signature.of(Reinterpret.class, "reinterpret")
            .data("data", DType.FLOAT32, DType.INT32)
            .attributes(Attribute.dtype("dtype", Reinterpret::dtype, DType.FLOAT32, DType.INT32), Reinterpret::new)
            .traits(Trait.ELEMENTWISE)
            .result(Reinterpret::result);

    @Override
    public Card<Reinterpret> card() {
        return SIGNATURE.of(this);
    }

    private TensorType result(List<TensorType> args) {
        TensorType data = args.get(0);
        Check.that(data.dtype() != dtype, "the bits of " + data.dtype().text() + " are of that type");
        return new TensorType(data.shape(), dtype);
    }
}
