// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

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
        implements FilterBank {
    /** Position of the estimate among the arguments. */
    public static final int ESTIMATE = 1;

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

    @Override
    public String name() {
        return "tfl.signal_filter_bank_spectral_subtraction";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public List<Integer> writes() {
        return List.of(ESTIMATE);
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "smoothing", smoothing,
                "one_minus_smoothing", oneMinusSmoothing,
                "alternate_smoothing", alternateSmoothing,
                "alternate_one_minus_smoothing", alternateOneMinusSmoothing,
                "smoothing_bits", smoothingBits,
                "min_signal_remaining", minSignalRemaining,
                "clamping", clamping ? 1 : 0,
                "spectral_subtraction_bits", bits);
    }

    @Override
    public TensorType inferred(List<TensorType> args) {
        Check.dtype("data", args.get(0), DType.UINT32);
        Check.that(
                args.get(ESTIMATE).equals(args.get(0)),
                "the estimate " + args.get(ESTIMATE).text() + " is not of the data's type "
                        + args.get(0).text());
        return args.get(0);
    }
}
