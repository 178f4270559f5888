// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Role;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * TVM's product with a fixed-point number (tir.q_multiply_shift and q_multiply_shift_per_axis in
 * src/target/intrin_rule.cc): {@code round(data * multiplier / 2^shift)}, reduced to its low 32 bits. Arguments, with
 * broadcasting: data, multiplier, shift (int32, from 1 to 62); the product is exact in 64 bits.
 *
 * @param rounding {@link Rounding#UPWARD} or {@link Rounding#TONEAREST}
 */
public record FixedPointMultiply(Rounding rounding) implements Op {
    /** Argument position of the shift. */
    public static final int SHIFT = 2;

    /** The largest shift. */
    public static final int MOST_SHIFT = 62;

    public FixedPointMultiply {
        Check.that(
                rounding == Rounding.UPWARD || rounding == Rounding.TONEAREST,
                "rounding must be UPWARD or TONEAREST, not " + rounding);
    }

    @Override
    public String name() {
        return "fixed_point_multiply";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public int operands() {
        return 3;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("rounding", rounding.name());
    }

    /** Multiplier and shift are constant tensors that broadcast. */
    @Override
    public Role role(int position) {
        return position == 0 ? Role.DATA : Role.CONSTANT;
    }

    @Override
    public Spelling spelling(List<TensorType> args) {
        return Spelling.own(this);
    }

    @Override
    public void check(Arguments args) {
        args.integers(SHIFT, "shift", shift -> shift >= 1 && shift <= MOST_SHIFT, "1 to " + MOST_SHIFT);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.INT32);
        Check.dtype("multiplier", args.get(1), DType.INT32);
        Check.dtype("shift", args.get(SHIFT), DType.INT32);
        return new TensorType(
                Check.broadcast(
                        args.get(0).shape(),
                        Check.broadcast(args.get(1).shape(), args.get(SHIFT).shape())),
                DType.INT32);
    }
}
