// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Squared absolute values of complex numbers (signal/src/energy.cc of TensorFlow Lite Micro): uint32, which wraps
 * around. Argument: data, a vector of int16, pairs of real and imaginary part. The result is 0 outside the range of
 * frequencies, where TensorFlow Lite Micro's kernel leaves the output unchanged.
 *
 * @param start first frequency of the range
 * @param end frequency after the last
 */
public record SignalEnergy(int start, int end) implements Op {
    public static final Signature<SignalEnergy> SIGNATURE = Signature.of(SignalEnergy.class, "tfl.signal_energy")
            .data("data", operand -> operand.rank(1), DType.INT16)
            .attributes(
                    Attribute.whole("start_index", SignalEnergy::start, 0),
                    Attribute.whole("end_index", SignalEnergy::end, 0),
                    SignalEnergy::new)
            .traits()
            .result(SignalEnergy::result);

    @Override
    public Card<SignalEnergy> card() {
        return SIGNATURE.of(this);
    }

    public SignalEnergy {
        Check.that(start >= 0 && start <= end, "a range of frequencies from " + start + " to " + end + " is not valid");
    }

    private TensorType result(List<TensorType> args) {
        TensorType data = args.get(0);
        int elements = data.shape().dim(0);
        Check.that(elements % 2 == 0, "data " + data.text() + " do not consist of pairs of real and imaginary part");
        Check.that(
                end <= elements / 2,
                "the range ends at " + end + ", beyond the last of " + elements / 2 + " frequencies");
        return new TensorType(Shape.of(elements / 2), DType.UINT32);
    }
}
