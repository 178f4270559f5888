// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;

/**
 * Delays each vector of a signal along the last axis; the delayed signal starts with zeros
 * (signal/micro/kernels/delay.cc of TensorFlow Lite Micro). Arguments: data, int16; the state, a variable: a vector of
 * {@code length} samples for each vector of the data, the oldest first.
 *
 * @param length number of samples, 1 or more
 */
public record SignalDelay(int length) implements Op {
    public static final Signature<SignalDelay> SIGNATURE = Signature.of(SignalDelay.class, "tfl.signal_delay")
            .data("data", Operand::vectors, DType.INT16)
            .state("state", operand -> operand.holds(SignalDelay::state))
            .attributes(Attribute.whole("delay_length", SignalDelay::length, 1), SignalDelay::new)
            .traits()
            .same();

    @Override
    public Card<SignalDelay> card() {
        return SIGNATURE.of(this);
    }

    public SignalDelay {
        Check.that(length >= 1, "a delay takes 1 sample or more, not " + length);
    }

    /** Type of the state for the data. */
    public TensorType state(TensorType data) {
        long elements = data.shape().elements() / data.shape().dim(-1) * length;
        return new TensorType(Check.vector(elements), DType.INT16);
    }

    /** Position of the state among the arguments. */
    public static final int STATE = SIGNATURE.position("state");
}
