// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.arith.WideDynamicGain;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;

/**
 * Per-channel amplitude normalization (PCAN): an automatic gain control that divides a channel by a power of its noise
 * (signal/src/pcan_argc_fixed.cc of TensorFlow Lite Micro). Arguments: data, uint32; the noise estimate, of the same
 * type, which may be computed; the table of gains, int16, in the format of {@link WideDynamicGain}.
 *
 * <p>{@code snr = (uint32)(data * (uint32)gain >> snrShift)} has 12 fraction bits. The result has 6: {@code snr^2 / 4}
 * if snr is less than 2, otherwise {@code snr - 1}.
 *
 * @param snrShift right shift of the 64-bit product, 0 to 63
 */
public record FilterBankGainControl(int snrShift) implements Op {
    public static final Signature<FilterBankGainControl> SIGNATURE = Signature.of(
                    FilterBankGainControl.class, "tfl.signal_pcan")
            .data("data", operand -> operand.rank(1), DType.UINT32)
            .data(
                    "noise",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            type.equals(args.get(0)),
                            "the noise " + type.text() + " is not of the data's type "
                                    + args.get(0).text())))
            .constant(
                    "table of gains",
                    operand -> operand.rank(1)
                            .fits((what, type, op, args) -> Check.that(
                                    type.shape().dim(0) >= WideDynamicGain.ELEMENTS,
                                    "the table of gains has " + type.shape().dim(0) + " elements, not "
                                            + WideDynamicGain.ELEMENTS)),
                    DType.INT16)
            .attributes(
                    Attribute.whole("snr_shift", FilterBankGainControl::snrShift, 0, Long.SIZE - 1),
                    FilterBankGainControl::new)
            .traits()
            .same();

    @Override
    public Card<FilterBankGainControl> card() {
        return SIGNATURE.of(this);
    }

    /** Fraction bits of the signal-to-noise ratio. */
    public static final int SNR_BITS = 12;

    /** Fraction bits of the result. */
    public static final int OUTPUT_BITS = 6;

    /** Position of the noise estimate among the arguments. */
    public static final int NOISE = SIGNATURE.position("noise");

    /** Position of the table of gains among the arguments. */
    public static final int GAINS = SIGNATURE.position("table of gains");

    public FilterBankGainControl {
        Check.that(snrShift >= 0 && snrShift < Long.SIZE, "a shift by " + snrShift + " bits is not one by 0 to 63");
    }
}
