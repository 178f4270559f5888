// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;

/**
 * Weighs the samples of each vector along the last axis: {@code (data * weight) >> shift}, saturated to int16
 * (signal/src/window.cc of TensorFlow Lite Micro). Arguments: data, int16; weights, int16, one for each sample of a
 * vector.
 *
 * @param shift 0 to 31
 */
public record SignalWindow(int shift) implements Op {
    public static final Signature<SignalWindow> SIGNATURE = Signature.of(SignalWindow.class, "tfl.signal_window")
            .data("data", Operand::vectors, DType.INT16)
            .constant(
                    "weights",
                    operand -> operand.rank(1)
                            .fits((what, type, op, args) -> Check.that(
                                    type.shape().dim(0) == args.get(0).shape().dim(-1),
                                    "weights " + type.text() + " do not fit data "
                                            + args.get(0).text())),
                    DType.INT16)
            .attributes(Attribute.whole("shift", SignalWindow::shift, 0, Integer.SIZE - 1), SignalWindow::new)
            .traits()
            .same();

    @Override
    public Card<SignalWindow> card() {
        return SIGNATURE.of(this);
    }

    public SignalWindow {
        Check.that(shift >= 0 && shift < Integer.SIZE, "a window takes a shift from 0 to 31, not " + shift);
    }
}
