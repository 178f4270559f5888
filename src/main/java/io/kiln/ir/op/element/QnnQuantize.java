// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * {@code saturate(round(data / scale) + zeroPoint)}, halves away from zero, or to even as in ONNX; NaN becomes the smallest
 * value. Arguments: data (float32), scale, zero point.
 *
 * @param outDtype integer type of the result
 * @param rounding {@link Rounding#TFLITE}, which is TVM's too, or {@link Rounding#ONNX}
 */
public record QnnQuantize(DType outDtype, Rounding rounding) implements Op {
    public QnnQuantize {
        Check.that(
                rounding == Rounding.TFLITE || rounding == Rounding.ONNX,
                "rounding must be TFLITE or ONNX, not " + rounding);
    }

    /** Rounds halves away from zero. */
    public QnnQuantize(DType outDtype) {
        this(outDtype, Rounding.TFLITE);
    }

    @Override
    public String name() {
        return "qnn.quantize";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("out_dtype", outDtype.text(), "rounding", rounding.name());
    }

    @Override
    public Spelling spelling(List<TensorType> args) {
        return rounding == Rounding.TFLITE ? Spelling.of(this).without("rounding") : Spelling.own(this);
    }

    @Override
    public void check(Arguments args) {
        args.quantization(1, 2, outDtype);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.FLOAT32);
        Check.scalar("scale", args.get(1), DType.FLOAT32);
        Check.scalar("zero point", args.get(2), DType.INT32);
        return new TensorType(args.get(0).shape(), outDtype);
    }
}
