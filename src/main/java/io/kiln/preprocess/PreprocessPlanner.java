// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.preprocess.AudioPipeline.Cepstrum;
import io.kiln.preprocess.AudioPipeline.Framing;
import io.kiln.preprocess.AudioPipeline.Log;
import io.kiln.preprocess.AudioPipeline.Mel;
import io.kiln.preprocess.AudioPipeline.MelFilters;
import io.kiln.preprocess.AudioPipeline.Shape;
import io.kiln.preprocess.PreprocessPlan.Filters;
import io.kiln.preprocess.PreprocessPlan.FixedFactor;
import io.kiln.preprocess.PreprocessPlan.Logarithm;
import io.kiln.preprocess.PreprocessPlan.Quantization;
import io.kiln.preprocess.PreprocessPlan.Scaling;
import io.kiln.preprocess.PreprocessPlan.Signal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Makes integers and tables of a pipeline that has been checked. {@code StrictMath} gives the same tables on every computer. */
final class PreprocessPlanner {
    private static final int ONE = 1 << 15;

    /** No input has more steps between its zero point and an end. */
    private static final double STEPS = 1 << 17;

    private final AudioPipeline pipeline;
    private final TensorInfo input;
    private final int n;

    private PreprocessPlanner(AudioPipeline pipeline, TensorInfo input) {
        this.pipeline = pipeline;
        this.input = input;
        this.n = Integer.numberOfTrailingZeros(pipeline.spectrum().fft());
    }

    /**
     * The plan.
     *
     * @param input the model's input, of whole rows
     */
    static PreprocessPlan plan(AudioPipeline pipeline, TensorInfo input) {
        return new PreprocessPlanner(pipeline, input).plan();
    }

    /** An input with a scale that any features fit; what is computed before quantization does not depend on it. */
    static TensorInfo unquantized(AudioPipeline pipeline, TensorInfo input) {
        double most = pipeline.normalization().scale().stream()
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(1);
        return new TensorInfo(input.name(), input.cName(), DType.INT16, input.shape(), (float) most, 0);
    }

    /** Whether the input's scale is one with which features can be quantized. */
    static boolean fits(AudioPipeline pipeline, TensorInfo input) {
        PreprocessPlanner planner = new PreprocessPlanner(pipeline, input);
        int fraction = planner.fraction();
        boolean isLogarithm = pipeline.log().isPresent();
        return (isLogarithm || planner.linearShift(fraction) < PreprocessPlan.ENERGY_BITS)
                && Arrays.stream(planner.factors(planner.valueBits(fraction))).allMatch(FixedFactor::isRepresentable);
    }

    /** Whether logarithms, and the coefficients of their cosine transform, have {@link PreprocessPlan#LOG_BITS} bits before the point. */
    static boolean hasSmallLogarithms(AudioPipeline pipeline, TensorInfo input) {
        int fraction = new PreprocessPlanner(pipeline, input).fraction();
        double most = Math.max(Math.abs(fraction), Math.abs(PreprocessPlan.ENERGY_BITS + 1 - fraction));
        double factor = pipeline.log().map(PreprocessPlanner::factor).orElse(0.0);
        // Rows of the transform have a length of 1, the first one perhaps of the square root of 2.
        double gain = pipeline.cepstrum().isPresent() ? Math.sqrt(2.0 * pipeline.channels()) : 1;
        return most * factor * gain < 1 << (Integer.SIZE - 1 - PreprocessPlan.LOG_BITS);
    }

    /** Fraction bits of the energies. */
    static int energyBits(AudioPipeline pipeline, TensorInfo input) {
        return new PreprocessPlanner(pipeline, input).fraction();
    }

    private int fraction() {
        return fraction(pipeline.mel()
                .map(this::weights)
                .map(PreprocessPlanner::weightBits)
                .orElse(0));
    }

    private PreprocessPlan plan() {
        Framing framing = pipeline.framing();
        Optional<double[][]> weights = pipeline.mel().map(this::weights);
        int weightBits = weights.map(PreprocessPlanner::weightBits).orElse(0);
        Optional<Filters> filters = weights.map(w -> filters(w, weightBits));
        int fraction = fraction(weightBits);
        return new PreprocessPlan(
                pipeline,
                Math.toIntExact(input.elements() / pipeline.features()),
                new Signal(
                        framing.shape() == Shape.RECTANGULAR ? List.of() : window(framing),
                        Math.min(ONE - 1, (int) Math.round(framing.preEmphasis() * ONE)),
                        twiddles()),
                filters,
                new Scaling(
                        pipeline.log().map(log -> logarithm(log, fraction)),
                        pipeline.log().isPresent() ? 0 : linearShift(fraction)),
                pipeline.cepstrum().map(this::cosines).orElse(List.of()),
                quantization(valueBits(fraction)));
    }

    /** Fraction bits of energies. */
    private int fraction(int weightBits) {
        return weightBits + (pipeline.spectrum().isPower() ? 60 - PreprocessPlan.POWER_SHIFT - 2 * n : 30 - n);
    }

    /** Fraction bits of what is normalized. */
    private int valueBits(int fraction) {
        return pipeline.log().isPresent() ? PreprocessPlan.LOG_BITS : fraction - linearShift(fraction);
    }

    private double[] factors(int valueBits) {
        return pipeline.normalization().scale().stream()
                .mapToDouble(scale -> Math.scalb(scale / input.scale(), -valueBits))
                .toArray();
    }

    private static List<Integer> window(Framing framing) {
        int[] window = new int[framing.window()];
        for (int i = 0; i < window.length; i++) {
            window[i] = (int) Math.round(framing.shape().at(i, window.length) * ONE);
        }
        return list(window);
    }

    /** 1 does not fit, and becomes the number below it. */
    private List<Integer> twiddles() {
        int fft = pipeline.spectrum().fft();
        int[] twiddles = new int[fft];
        for (int k = 0; k < fft / 2; k++) {
            double angle = 2 * StrictMath.PI * k / fft;
            twiddles[2 * k] = fixed(StrictMath.cos(angle));
            twiddles[2 * k + 1] = fixed(StrictMath.sin(angle));
        }
        return list(twiddles);
    }

    private static List<Integer> list(int... values) {
        return Arrays.stream(values).boxed().toList();
    }

    private static int fixed(double real) {
        return (int) Math.min(ONE - 1, Math.round(real * ONE));
    }

    private double[][] weights(Mel mel) {
        return MelFilters.weights(
                mel, pipeline.sampleRate(), pipeline.spectrum().fft());
    }

    /** Fraction bits of the sums: those of the channel with the largest weight. */
    private static int weightBits(double[][] weights) {
        return Arrays.stream(weights)
                .mapToInt(PreprocessPlanner::channelBits)
                .min()
                .orElseThrow();
    }

    /** Fraction bits with which a channel's largest weight is at most {@link #ONE}. */
    private static int channelBits(double[] weights) {
        double most = Arrays.stream(weights).max().orElseThrow();
        int bits = 14 - Math.getExponent(most);
        return Math.round(Math.scalb(most, bits + 1)) <= ONE ? bits + 1 : bits;
    }

    private static Filters filters(double[][] weights, int bits) {
        int[] first = new int[weights.length];
        int[] start = new int[weights.length + 1];
        int[] shift = new int[weights.length];
        List<Integer> all = new ArrayList<>();
        for (int c = 0; c < weights.length; c++) {
            int channelBits = channelBits(weights[c]);
            int[] fixed = Arrays.stream(weights[c])
                    .mapToInt(w -> (int) Math.round(Math.scalb(w, channelBits)))
                    .toArray();
            int[] above =
                    IntStream.range(0, fixed.length).filter(k -> fixed[k] > 0).toArray();
            first[c] = above[0];
            IntStream.rangeClosed(above[0], above[above.length - 1]).forEach(k -> all.add(fixed[k]));
            start[c + 1] = all.size();
            shift[c] = channelBits - bits;
        }
        return new Filters(list(first), list(start), list(shift), List.copyOf(all));
    }

    private static Logarithm logarithm(Log log, int fraction) {
        double factor = factor(log);
        return new Logarithm(
                energy(log.offset(), fraction),
                Math.max(1, energy(log.floor(), fraction)),
                fraction,
                factor == 1 ? Optional.empty() : Optional.of(FixedFactor.of(factor)));
    }

    /** From the logarithm to base 2 to the wanted one. */
    private static double factor(Log log) {
        return log.scale() * StrictMath.log(2) / StrictMath.log(log.base());
    }

    /** No energy reaches {@code 2^62}, and a sum of two must not overflow. */
    private static long energy(double real, int fraction) {
        return Math.min(1L << (PreprocessPlan.ENERGY_BITS - 1), Math.round(Math.scalb(real, fraction)));
    }

    /** Keeps what the input can hold: larger energies saturate there too. */
    private int linearShift(int fraction) {
        double scale = least(pipeline.normalization().scale());
        double mean = pipeline.normalization().mean().stream()
                .mapToDouble(Math::abs)
                .max()
                .orElse(0);
        double most = 2 * mean + STEPS * input.scale() / scale;
        return Math.max(0, Math.getExponent(most) + 1 + fraction - 31);
    }

    private static double least(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    }

    private List<Integer> cosines(Cepstrum cepstrum) {
        int channels = pipeline.channels();
        int[] cosines = new int[cepstrum.coefficients() * channels];
        for (int k = 0; k < cepstrum.coefficients(); k++) {
            double norm = StrictMath.sqrt((k == 0 && cepstrum.isOrthonormal() ? 1.0 : 2.0) / channels);
            for (int c = 0; c < channels; c++) {
                double cosine = StrictMath.cos(StrictMath.PI * k * (2 * c + 1) / (2.0 * channels));
                cosines[k * channels + c] = fixed(norm * cosine);
            }
        }
        return list(cosines);
    }

    private Quantization quantization(int valueBits) {
        List<Integer> mean = pipeline.normalization().mean().stream()
                .map(m -> Math.toIntExact(Math.round(Math.scalb(m, valueBits))))
                .toList();
        double[] factors = factors(valueBits);
        int shift = FixedFactor.of(Arrays.stream(factors).max().orElseThrow()).shift();
        List<Integer> mantissa = Arrays.stream(factors)
                .mapToObj(f -> (int) Math.max(1, FixedFactor.mantissa(f, shift)))
                .toList();
        return new Quantization(input.dtype(), input.zeroPoint(), mean, mantissa, shift);
    }
}
