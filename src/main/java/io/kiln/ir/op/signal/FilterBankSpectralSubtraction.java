// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import java.util.function.ToIntFunction;

/**
 * Subtracts a noise estimate from each channel (signal/src/filter_bank_spectral_subtraction.cc of TensorFlow Lite
 * Micro). Arguments: data, uint32; the estimate, a variable of the data's type, which is also updated.
 *
 * <p>With {@code x} the data shifted left by {@code smoothingBits} and {@code b} the {@code bits} of fractions, the
 * estimate becomes {@code (x * smoothing + estimate * oneMinusSmoothing) >> b}. The result is the larger of {@code (x -
 * min(x, estimate)) >> smoothingBits} and {@code data * minSignalRemaining >> b}. Products and their sum have 64 bits,
 * everything else 32.
 *
 * @param smoothing factor for channels 0, 2, 4 …
 * @param oneMinusSmoothing its complement
 * @param alternateSmoothing factor for channels 1, 3, 5 …
 * @param alternateOneMinusSmoothing its complement
 * @param smoothingBits additional fraction bits of the estimate, 0 to 31
 * @param minSignalRemaining fraction of the data that always remains
 * @param clamping whether the estimate is limited to {@code x}
 * @param bits fraction bits of the factors, 0 to 63
 */
public record FilterBankSpectralSubtraction(
        int smoothing,
        int oneMinusSmoothing,
        int alternateSmoothing,
        int alternateOneMinusSmoothing,
        int smoothingBits,
        int minSignalRemaining,
        boolean clamping,
        int bits)
        implements Op {
    public static final Signature<FilterBankSpectralSubtraction> SIGNATURE = Signature.of(
                    FilterBankSpectralSubtraction.class, "tfl.signal_filter_bank_spectral_subtraction")
            .data("data", operand -> operand.rank(1), DType.UINT32)
            .state(
                    "estimate",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            type.equals(args.get(0)),
                            "the estimate " + type.text() + " is not of the data's type "
                                    + args.get(0).text())))
            .attributes(
                    factor("smoothing", FilterBankSpectralSubtraction::smoothing)
                            .and(factor("one_minus_smoothing", FilterBankSpectralSubtraction::oneMinusSmoothing)),
                    factor("alternate_smoothing", FilterBankSpectralSubtraction::alternateSmoothing)
                            .and(factor(
                                    "alternate_one_minus_smoothing",
                                    FilterBankSpectralSubtraction::alternateOneMinusSmoothing)),
                    Attribute.whole(
                            "smoothing_bits", FilterBankSpectralSubtraction::smoothingBits, 0, Integer.SIZE - 1),
                    factor("min_signal_remaining", FilterBankSpectralSubtraction::minSignalRemaining),
                    Attribute.flag("clamping", FilterBankSpectralSubtraction::clamping),
                    Attribute.whole("spectral_subtraction_bits", FilterBankSpectralSubtraction::bits, 0, Long.SIZE - 1),
                    (even, odd, smoothingBits, remaining, clamping, bits) -> new FilterBankSpectralSubtraction(
                            even.first(),
                            even.second(),
                            odd.first(),
                            odd.second(),
                            smoothingBits,
                            remaining,
                            clamping,
                            bits))
            .traits()
            .same();

    @Override
    public Card<FilterBankSpectralSubtraction> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the estimate among the arguments. */
    public static final int ESTIMATE = SIGNATURE.position("estimate");

    public FilterBankSpectralSubtraction {
        boolean positive = smoothing >= 0
                && oneMinusSmoothing >= 0
                && alternateSmoothing >= 0
                && alternateOneMinusSmoothing >= 0
                && minSignalRemaining >= 0;
        Check.that(positive, "the factors of a spectral subtraction are 0 or more");
        Check.that(
                smoothingBits >= 0 && smoothingBits < Integer.SIZE && bits >= 0 && bits < Long.SIZE,
                smoothingBits + " smoothing bits and " + bits + " bits of fractions are not 0 to 31 and 0 to 63");
    }

    private static Attribute<FilterBankSpectralSubtraction, Integer> factor(
            String name, ToIntFunction<FilterBankSpectralSubtraction> get) {
        return Attribute.whole(name, get, 0);
    }
}
