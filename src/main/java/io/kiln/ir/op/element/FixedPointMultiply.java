// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Signature;

/**
 * TVM's product with a fixed-point number (tir.q_multiply_shift and q_multiply_shift_per_axis in
 * src/target/intrin_rule.cc): {@code round(data * multiplier / 2^shift)}, reduced to its low 32 bits. Arguments, with
 * broadcasting: data, multiplier, shift (int32, from 1 to 62); the product is exact in 64 bits.
 *
 * @param rounding {@link Rounding#UPWARD} or {@link Rounding#TONEAREST}
 */
public record FixedPointMultiply(Rounding rounding) implements Op {
    public static final Signature<FixedPointMultiply> SIGNATURE = Signature.of(
                    FixedPointMultiply.class, "fixed_point_multiply")
            .data("data", DType.INT32)
            .constant("multiplier", Operand::broadcasting, DType.INT32)
            .constant("shift", operand -> operand.broadcasting().within(1, FixedPointMultiply.MOST_SHIFT), DType.INT32)
            .attributes(
                    Attribute.name("rounding", FixedPointMultiply::rounding, Rounding.UPWARD, Rounding.TONEAREST),
                    FixedPointMultiply::new)
            .own()
            .broadcast(DType.INT32);

    @Override
    public Card<FixedPointMultiply> card() {
        return SIGNATURE.of(this);
    }

    public static final int SHIFT = SIGNATURE.position("shift");

    /** The largest shift. */
    public static final int MOST_SHIFT = 62;

    public FixedPointMultiply {
        Check.that(
                rounding == Rounding.UPWARD || rounding == Rounding.TONEAREST,
                "rounding must be UPWARD or TONEAREST, not " + rounding);
    }
}
