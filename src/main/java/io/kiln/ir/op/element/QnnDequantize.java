// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.Trait;

/** {@code scale * (data - zeroPoint)} as float32. Arguments: data, scale, zero point. */
public record QnnDequantize() implements Op {
    public static final Signature<QnnDequantize> SIGNATURE = Signature.of(QnnDequantize.class, "qnn.dequantize")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            type.dtype().isInteger(),
                            "data must be integer, not " + type.dtype().text())))
            .scale("scale")
            .zeroPoint("zero point")
            .attributes(QnnDequantize::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .compiles(DType.INT8, DType.UINT8, DType.INT16)
            .spelled((op, args) -> Spelling.of(op).with("out_dtype", DType.FLOAT32.text()))
            .to(DType.FLOAT32);

    @Override
    public Card<QnnDequantize> card() {
        return SIGNATURE.of(this);
    }
}
