// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.arith.WideDynamicGain;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

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
public record FilterBankGainControl(int snrShift) implements FilterBank {
    /** Fraction bits of the signal-to-noise ratio. */
    public static final int SNR_BITS = 12;

    /** Fraction bits of the result. */
    public static final int OUTPUT_BITS = 6;

    /** Position of the noise estimate among the arguments. */
    public static final int NOISE = 1;

    /** Position of the table of gains among the arguments. */
    public static final int GAINS = 2;

    public FilterBankGainControl {
        Check.that(snrShift >= 0 && snrShift < Long.SIZE, "a shift by " + snrShift + " bits is not one by 0 to 63");
    }

    @Override
    public String name() {
        return "tfl.signal_pcan";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public int operands() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("snr_shift", snrShift);
    }

    @Override
    public TensorType inferred(List<TensorType> args) {
        TensorType data = args.get(0);
        TensorType gains = args.get(GAINS);
        Check.dtype("data", data, DType.UINT32);
        Check.that(
                args.get(NOISE).equals(data),
                "the noise " + args.get(NOISE).text() + " is not of the data's type " + data.text());
        Check.dtype("the table of gains", gains, DType.INT16);
        Check.rank("the table of gains", gains, 1);
        Check.that(
                gains.shape().dim(0) >= WideDynamicGain.ELEMENTS,
                "the table of gains has " + gains.shape().dim(0) + " elements, not " + WideDynamicGain.ELEMENTS);
        return data;
    }
}
