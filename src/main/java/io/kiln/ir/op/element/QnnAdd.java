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
import java.util.Set;

/**
 * Quantized element-wise sum with broadcasting.
 *
 * <p>Arguments: lhs, rhs, lhs scale, lhs zero point, rhs scale, rhs zero point, output scale, output zero point. In
 * TensorFlow Lite's arithmetic, with {@code twice = 2 * max(lhsScale, rhsScale)}: both operands are shifted left by 20,
 * rescaled by {@code scale / twice}, summed, rescaled by {@code twice / (2^20 * outputScale)} and saturated
 * (reference_integer_ops::Add). In TVM's (src/relay/qnn/op/add.cc), both operands are rescaled to the output's scale as
 * by {@link QnnRequantize}, rounding upward, then summed and saturated.
 *
 * @param rounding {@link Rounding#TFLITE} or, for TVM's arithmetic, {@link Rounding#UPWARD}
 */
public record QnnAdd(Rounding rounding) implements Op {
    /** Largest ratio of an input's scale to the output's in TVM's arithmetic. */
    private static final double MOST_RATIO = 1 << 20;

    public QnnAdd {
        Check.that(
                rounding == Rounding.TFLITE || rounding == Rounding.UPWARD,
                "rounding must be TFLITE or UPWARD, not " + rounding);
    }

    /** The sum in TensorFlow Lite's arithmetic. */
    public QnnAdd() {
        this(Rounding.TFLITE);
    }

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
        return Check.attributes("rounding", rounding.name());
    }

    @Override
    public int operands() {
        return 2;
    }

    @Override
    public Spelling spelling(List<TensorType> args) {
        return rounding == Rounding.UPWARD ? Spelling.of(this).without("rounding") : Spelling.own(this);
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8, DType.INT16);
    }

    @Override
    public void check(Arguments args) {
        for (int scale = 2; scale < arity(); scale += 2) {
            args.quantization(scale, scale + 1, args.data().dtype());
        }
        if (rounding == Rounding.UPWARD) {
            args.ratio(2, 6, MOST_RATIO);
            args.ratio(4, 6, MOST_RATIO);
        }
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
