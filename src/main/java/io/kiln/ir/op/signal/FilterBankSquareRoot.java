// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * The square root of each channel, shifted right (signal/src/filter_bank_square_root.cc of TensorFlow Lite Micro).
 * Arguments: data, uint64; the number of bits, an int32 scalar that may be computed. The result is uint32. Roots are
 * rounded as in {@link io.kiln.ir.arith.SquareRoot}; for less than 0 or more than 31 bits the result is 0.
 */
public record FilterBankSquareRoot() implements FilterBank {
    /** Position of the number of bits among the arguments. */
    public static final int BITS = 1;

    @Override
    public String name() {
        return "tfl.signal_filter_bank_square_root";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public int operands() {
        return 2;
    }

    @Override
    public TensorType inferred(List<TensorType> args) {
        Check.dtype("data", args.get(0), DType.UINT64);
        Check.scalar("the number of bits", args.get(BITS), DType.INT32);
        return new TensorType(args.get(0).shape(), DType.UINT32);
    }
}
