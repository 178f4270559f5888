// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;

/**
 * The square root of each channel, shifted right (signal/src/filter_bank_square_root.cc of TensorFlow Lite Micro).
 * Arguments: data, uint64; the number of bits, an int32 scalar that may be computed. The result is uint32. Roots are
 * rounded as in {@link io.kiln.ir.arith.SquareRoot}; for less than 0 or more than 31 bits the result is 0.
 */
public record FilterBankSquareRoot() implements Op {
    public static final Signature<FilterBankSquareRoot> SIGNATURE = Signature.of(
                    FilterBankSquareRoot.class, "tfl.signal_filter_bank_square_root")
            .data("data", operand -> operand.rank(1), DType.UINT64)
            .data("number of bits", Operand::scalar, DType.INT32)
            .attributes(FilterBankSquareRoot::new)
            .traits()
            .to(DType.UINT32);

    @Override
    public Card<FilterBankSquareRoot> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the number of bits among the arguments. */
    public static final int BITS = SIGNATURE.position("number of bits");
}
