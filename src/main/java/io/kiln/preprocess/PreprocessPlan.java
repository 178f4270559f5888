// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.base.DType;
import io.kiln.ir.arith.ScaledLogarithm;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A pipeline as integers: what the interpreter computes with and what the C is printed from.
 *
 * <p>Word sizes: samples times window have 14 fraction bits (29 bits). The transform halves in every stage, and gives the bins
 * times {@code 2^30 / fft} of samples from -1 to 1; none exceeds {@code 2^30}. Energies and filter sums are unsigned with 64 bits; by Parseval
 * they stay below {@code 2^62}, because the filters' weights are 1 at most. Logarithms, and energies without one, are 32 bits wide.
 *
 * @param pipeline what the user described
 * @param frames rows of the model's input
 * @param signal what becomes of the samples
 * @param filters the mel filters; empty for none
 * @param scaling from energies to 32 bits
 * @param cosines {@code [coefficient * channels + channel]} with 15 fraction bits; empty for no cosine transform
 * @param quantization from features to the model's input
 */
record PreprocessPlan(
        AudioPipeline pipeline,
        int frames,
        Signal signal,
        Optional<Filters> filters,
        Scaling scaling,
        List<Integer> cosines,
        Quantization quantization) {

    /** Bits that a power loses, so that filter sums have 64 bits. */
    static final int POWER_SHIFT = 13;

    /** Bits of energies and filter sums. */
    static final int ENERGY_BITS = 62;

    /** Fraction bits of logarithms. */
    static final int LOG_BITS = ScaledLogarithm.BITS;

    /**
     * Factors of samples and of the transform, with 15 fraction bits.
     *
     * @param window factors of a frame's samples; empty for 1
     * @param preEmphasis share of the sample before; 0 for none
     * @param twiddles cosine and sine of {@code 2 pi k / fft}, for k below half the points
     */
    record Signal(List<Integer> window, int preEmphasis, List<Integer> twiddles) {}

    /**
     * From energies to 32 bits.
     *
     * @param logarithm the logarithm; empty for none
     * @param linearShift without a logarithm, the bits that energies lose before they saturate at 31 bits
     */
    record Scaling(Optional<Logarithm> logarithm, int linearShift) {}

    /**
     * The filters' weights from the first to the last above 0. Each channel has as many fraction bits as its weights take, so that narrow
     * filters are as exact as others.
     *
     * @param first first bin of each channel
     * @param start index of each channel's first weight; one more entry for the end
     * @param shift bits that each channel has more than the sums, which lose them
     * @param weights 0 to 32768
     */
    record Filters(List<Integer> first, List<Integer> start, List<Integer> shift, List<Integer> weights) {}

    /**
     * A logarithm of energies.
     *
     * @param offset added to the energy
     * @param floor least energy, 1 or more
     * @param fractionBits of the energy
     * @param factor from the logarithm to base 2 to the wanted one; empty for 1
     */
    record Logarithm(long offset, long floor, int fractionBits, Optional<FixedFactor> factor) {}

    /**
     * {@code clamp(((value - mean) * mantissa / 2^shift) + zeroPoint)}.
     *
     * @param dtype int8, uint8 or int16
     * @param zeroPoint of the model's input
     * @param mean one, or one for each feature
     * @param mantissa likewise
     * @param shift of all mantissas
     */
    record Quantization(DType dtype, int zeroPoint, List<Integer> mean, List<Integer> mantissa, int shift) {
        int low() {
            return switch (dtype) {
                case INT8 -> Byte.MIN_VALUE;
                case INT16 -> Short.MIN_VALUE;
                default -> 0;
            };
        }

        int high() {
            return switch (dtype) {
                case INT8 -> Byte.MAX_VALUE;
                case INT16 -> Short.MAX_VALUE;
                default -> 255;
            };
        }
    }

    /** Samples of audio for one input of the model. */
    int samples() {
        return pipeline.framing().window() + (frames - 1) * pipeline.framing().hop();
    }

    int features() {
        return pipeline.features();
    }

    /** Bytes of constant tables in the C. */
    int tableBytes() {
        int filterBytes = filters.map(f ->
                        2 * (f.first().size() + f.start().size() + f.weights().size())
                                + f.shift().size())
                .orElse(0);
        int quantizing = 4 * (listed(quantization.mean()) + listed(quantization.mantissa()));
        int logs = scaling.logarithm().isPresent() ? 4 * logTable().size() : 0;
        return 2 * (signal.window().size() + signal.twiddles().size() + cosines.size())
                + filterBytes
                + quantizing
                + logs;
    }

    /** A single value is a macro rather than a table. */
    static int listed(List<Integer> values) {
        return values.size() > 1 ? values.size() : 0;
    }

    /** Bytes of the C's state: the transform, the channels before the cosine transform, counts and samples. */
    int stateBytes() {
        AudioPipeline.Framing framing = pipeline.framing();
        int words = (!cosines.isEmpty() ? pipeline.channels() : 0) + (framing.hop() > framing.window() ? 2 : 1);
        int bytes = 8 * pipeline.spectrum().bins()
                + 4 * words
                + 2 * (framing.window() + (signal.preEmphasis() != 0 ? 1 : 0));
        return (bytes + 7) / 8 * 8;
    }

    /** {@code log2(1 + i / 128)} with 16 fraction bits, both ends included; the table that {@code tfl.signal} has too. */
    static List<Integer> logTable() {
        return Arrays.stream(ScaledLogarithm.wholeTable()).boxed().toList();
    }

    /**
     * A positive real factor as {@code mantissa / 2^shift}.
     *
     * @param mantissa 1 or more
     * @param shift 1 to {@link #MAX_SHIFT}
     */
    record FixedFactor(int mantissa, int shift) {
        /** With a rounding constant of {@code 2^61} and a product below {@code 2^62.6} the sum has 63 bits. */
        static final int MAX_SHIFT = 62;

        /** Whether a factor can be given: from {@code 2^-32} to below {@code 2^29}. */
        static boolean isRepresentable(double real) {
            return real >= 0x1p-32 && real < 0x1p29;
        }

        /** The nearest with a mantissa of 31 bits. */
        static FixedFactor of(double real) {
            int shift = 30 - Math.getExponent(real);
            long mantissa = mantissa(real, shift);
            return mantissa >> 31 == 0
                    ? new FixedFactor((int) mantissa, shift)
                    : new FixedFactor((int) (mantissa >> 1), shift - 1);
        }

        /** The mantissa of a real factor for a shift. */
        static long mantissa(double real, int shift) {
            return Math.round(Math.scalb(real, shift));
        }

        /** The product, rounded to the nearest integer, halves up. */
        static long times(long value, int mantissa, int shift) {
            return (value * mantissa + (1L << (shift - 1))) >> shift;
        }
    }
}
