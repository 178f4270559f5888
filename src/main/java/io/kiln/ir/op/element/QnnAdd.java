// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.Trait;

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
    public static final Signature<QnnAdd> SIGNATURE = Signature.of(QnnAdd.class, "qnn.add")
            .data("lhs")
            .data("rhs", operand -> operand.like("lhs"))
            .quantization("lhs")
            .quantization("rhs")
            .quantization("output")
            .attributes(Attribute.name("rounding", QnnAdd::rounding, Rounding.TFLITE, Rounding.UPWARD), QnnAdd::new)
            .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
            .compiles(DType.INT8, DType.INT16)
            .spelled((op, args) ->
                    op.rounding == Rounding.UPWARD ? Spelling.of(op).without("rounding") : Spelling.own(op))
            .rules(QnnAdd::rules)
            .broadcast("lhs");

    @Override
    public Card<QnnAdd> card() {
        return SIGNATURE.of(this);
    }

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

    private void rules(Arguments args) {
        if (rounding == Rounding.UPWARD) {
            args.ratio(2, 6, MOST_RATIO);
            args.ratio(4, 6, MOST_RATIO);
        }
    }
}
