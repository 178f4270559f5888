// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.arith.FilterBankLayout;
import io.kiln.ir.arith.WideDynamicGain;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.function.ToIntFunction;

/** The operators of a filter bank and of what follows it in the frontend of speech models. */
public final class FilterBankOperators {
    private FilterBankOperators() {}

    /**
     * Sums energies in the channels of a filter bank (signal/src/filter_bank.cc of TensorFlow Lite Micro). Arguments:
     * energies, uint32; then constants of int16: weights and unweights, equal in number; for every channel and one below
     * the first its first energy, its first weight, and its width.
     *
     * <p>The filters are triangles that overlap by half. Each energy of a channel is weighted by its weight for that
     * channel, and by its unweight for the one above: {@code out[c] = sum(weight * energy in c) + sum(unweight * energy in
     * c - 1)}, in uint64 modulo 2^64. The channel below the first contributes its unweights only.
     *
     * @param channels number of channels of the result, 1 or more
     */
    public record FilterBankAccumulate(int channels) implements Op {
        public static final Signature<FilterBankAccumulate> SIGNATURE = Signature.of(
                        FilterBankAccumulate.class, "tfl.signal_filter_bank")
                .data("energies", operand -> operand.rank(1).filled(), DType.UINT32)
                .constant("weights", operand -> operand.rank(1), DType.INT16)
                .constant("unweights", operand -> operand.rank(1), DType.INT16)
                .constant("frequency starts", operand -> operand.rank(1), DType.INT16)
                .constant("weight starts", operand -> operand.rank(1), DType.INT16)
                .constant("widths", operand -> operand.rank(1), DType.INT16)
                .attributes(
                        Attribute.whole("num_channels", FilterBankAccumulate::channels, 1, Integer.MAX_VALUE - 1),
                        FilterBankAccumulate::new)
                .traits()
                .rules(FilterBankAccumulate::rules)
                .result(FilterBankAccumulate::result);

        @Override
        public Card<FilterBankAccumulate> card() {
            return SIGNATURE.of(this);
        }

        public static final int WEIGHTS = SIGNATURE.position("weights");
        public static final int UNWEIGHTS = SIGNATURE.position("unweights");

        /** Position of the channels' first energies among the arguments. */
        public static final int ENERGY_STARTS = SIGNATURE.position("frequency starts");

        /** Position of the channels' first weights among the arguments. */
        public static final int WEIGHT_STARTS = SIGNATURE.position("weight starts");

        /** Position of the channels' widths among the arguments. */
        public static final int WIDTHS = SIGNATURE.position("widths");

        public FilterBankAccumulate {
            Check.that(channels >= 1, "a filter bank has 1 channel or more, not " + channels);
        }

        private static int integer(Arguments args, int position, int index) {
            return (int) args.constant(position).orElseThrow().integer(index);
        }

        private void rules(Arguments args) {
            if (args.areConstant(1)) {
                FilterBankLayout.of(
                                channels + 1,
                                i -> integer(args, ENERGY_STARTS, i),
                                i -> integer(args, WEIGHT_STARTS, i),
                                i -> integer(args, WIDTHS, i))
                        .problems(
                                args.data().shape().dim(0),
                                args.constant(WEIGHTS).orElseThrow().elements())
                        .forEach(problem -> args.require(false, problem, "channels within the data and the weights"));
            }
        }

        private TensorType result(List<TensorType> args) {
            int weights = args.get(WEIGHTS).shape().dim(0);
            int unweights = args.get(UNWEIGHTS).shape().dim(0);
            Check.that(weights == unweights, weights + " weights and " + unweights + " unweights differ in number");
            for (int i = ENERGY_STARTS; i < arity(); i++) {
                int elements = args.get(i).shape().dim(0);
                Check.that(
                        elements - 1 == channels,
                        elements + " " + SIGNATURE.operands().get(i).name() + " do not fit " + channels
                                + " channels and the one below them");
            }
            return new TensorType(Shape.of(channels), DType.UINT64);
        }
    }

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

        public static final int NOISE = SIGNATURE.position("noise");
        public static final int GAINS = SIGNATURE.position("table of gains");

        public FilterBankGainControl {
            Check.that(snrShift >= 0 && snrShift < Long.SIZE, "a shift by " + snrShift + " bits is not one by 0 to 63");
        }
    }

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
                        Attribute.whole(
                                "spectral_subtraction_bits", FilterBankSpectralSubtraction::bits, 0, Long.SIZE - 1),
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

    /**
     * The square root of each channel, shifted right (signal/src/filter_bank_square_root.cc of TensorFlow Lite Micro).
     * Arguments: data, uint64; the number of bits, an int32 scalar that may be computed. The result is uint32. Roots are
     * rounded as in {@link io.kiln.ir.arith.SquareRoot}; for less than 0 or more than 31 bits the result is 0.
     */
    public record FilterBankSquareRoot() implements Op {
        public static final Signature<FilterBankSquareRoot> SIGNATURE = Signature.of(
                        FilterBankSquareRoot.class, "tfl.signal_filter_bank_square_root")
                .data("data", operand -> operand.rank(1), DType.UINT64)
                .data("number of bits", Operand::scalar, DType.INT32)
                .attributes(FilterBankSquareRoot::new)
                .traits()
                .to(DType.UINT32);

        @Override
        public Card<FilterBankSquareRoot> card() {
            return SIGNATURE.of(this);
        }

        /** Position of the number of bits among the arguments. */
        public static final int BITS = SIGNATURE.position("number of bits");
    }
}
