// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.Trait;

/**
 * {@code saturate(round(data / scale) + zeroPoint)}, halves away from zero, or to even as in ONNX; NaN becomes the smallest
 * value. Arguments: data (float32), scale, zero point.
 *
 * @param outDtype type of the result: int8, uint8 or int16
 * @param rounding {@link Rounding#TFLITE}, which is TVM's too, or {@link Rounding#ONNX}
 */
public record QnnQuantize(DType outDtype, Rounding rounding) implements Op {
    public static final Signature<QnnQuantize> SIGNATURE = Signature.of(QnnQuantize.class, "qnn.quantize")
            .data("data", DType.FLOAT32)
            .scale("scale")
            .zeroPoint("zero point", (op, args) -> op.outDtype)
            .attributes(
                    Attribute.dtype("out_dtype", QnnQuantize::outDtype, DType.INT8, DType.UINT8, DType.INT16),
                    Attribute.name("rounding", QnnQuantize::rounding, Rounding.TFLITE, Rounding.ONNX),
                    QnnQuantize::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .spelled((op, args) ->
                    op.rounding == Rounding.TFLITE ? Spelling.of(op).without("rounding") : Spelling.own(op))
            .to(QnnQuantize::outDtype);

    @Override
    public Card<QnnQuantize> card() {
        return SIGNATURE.of(this);
    }

    public QnnQuantize {
        Check.that(
                outDtype.isInteger() && outDtype.bytes() < Integer.BYTES,
                "out_dtype must be int8, uint8 or int16, not " + outDtype.text());
        Check.that(
                rounding == Rounding.TFLITE || rounding == Rounding.ONNX,
                "rounding must be TFLITE or ONNX, not " + rounding);
    }

    /** Rounds halves away from zero. */
    public QnnQuantize(DType outDtype) {
        this(outDtype, Rounding.TFLITE);
    }
}
