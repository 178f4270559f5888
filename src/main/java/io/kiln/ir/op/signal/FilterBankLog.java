// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;

/**
 * The natural logarithm of each channel (signal/src/filter_bank_log.cc of TensorFlow Lite Micro). Argument: data,
 * uint32, which is first shifted left. The result is int16: the logarithm times a scale, rounded as in {@link
 * io.kiln.ir.arith.ScaledLogarithm}, at most 32767; 0 for shifted values of 0 and 1.
 *
 * @param outputScale factor of the logarithm, 1 or more
 * @param correctionBits left shift of the data, 0 to 31; bits beyond 32 are lost
 */
public record FilterBankLog(int outputScale, int correctionBits) implements Op {
    public static final Signature<FilterBankLog> SIGNATURE = Signature.of(
                    FilterBankLog.class, "tfl.signal_filter_bank_log")
            .data("data", operand -> operand.rank(1), DType.UINT32)
            .attributes(
                    Attribute.whole("output_scale", FilterBankLog::outputScale, 1),
                    Attribute.whole("input_correction_bits", FilterBankLog::correctionBits, 0, Integer.SIZE - 1),
                    FilterBankLog::new)
            .traits()
            .to(DType.INT16);

    @Override
    public Card<FilterBankLog> card() {
        return SIGNATURE.of(this);
    }

    public FilterBankLog {
        Check.that(outputScale >= 1, "a logarithm is multiplied by 1 or more, not " + outputScale);
        Check.that(
                correctionBits >= 0 && correctionBits < Integer.SIZE,
                "a shift by " + correctionBits + " bits is not one by 0 to 31");
    }
}
