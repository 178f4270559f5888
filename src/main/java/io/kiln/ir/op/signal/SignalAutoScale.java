// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;

/**
 * Shifts samples left until the largest uses 15 bits (signal/src/fft_auto_scale.cc of TensorFlow Lite Micro).
 * Arguments: data, a vector of int16; a variable, an int32 scalar, which gets the number of bits.
 *
 * <p>The largest absolute value is an int16, computed sample by sample: -32768 makes it -32768, which any later sample
 * exceeds. If it is not positive, nothing is shifted. Values that no longer fit into int16 wrap around.
 */
public record SignalAutoScale() implements Op {
    public static final Signature<SignalAutoScale> SIGNATURE = Signature.of(
                    SignalAutoScale.class, "tfl.signal_fft_auto_scale")
            .data("data", operand -> operand.rank(1), DType.INT16)
            .state("number of bits", Operand::scalar, DType.INT32)
            .attributes(SignalAutoScale::new)
            .traits()
            .same();

    @Override
    public Card<SignalAutoScale> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the number of bits among the arguments. */
    public static final int BITS = SIGNATURE.position("number of bits");
}
