// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Set;

/** {@code scale * (data - zeroPoint)} as float32. Arguments: data, scale, zero point. */
public record QnnDequantize() implements Op {
    @Override
    public String name() {
        return "qnn.dequantize";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public Spelling spelling(List<TensorType> args) {
        return Spelling.of(this).with("out_dtype", DType.FLOAT32.text());
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8, DType.UINT8, DType.INT16);
    }

    @Override
    public void check(Arguments args) {
        args.quantization(1, 2, args.data().dtype());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.that(
                args.get(0).dtype().isInteger(),
                "data must be integer, not " + args.get(0).dtype().text());
        Check.scalar("scale", args.get(1), DType.FLOAT32);
        Check.scalar("zero point", args.get(2), DType.INT32);
        return new TensorType(args.get(0).shape(), DType.FLOAT32);
    }
}
