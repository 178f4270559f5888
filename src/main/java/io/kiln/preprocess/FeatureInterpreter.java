// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.base.Bytes;
import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.SquareRoot;
import io.kiln.preprocess.PreprocessPlan.Filters;
import io.kiln.preprocess.PreprocessPlan.FixedFactor;
import io.kiln.preprocess.PreprocessPlan.Logarithm;
import io.kiln.preprocess.PreprocessPlan.Quantization;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** Computes features in Java, bit for bit as the generated C does; verification compares with it. */
public final class FeatureInterpreter {
    private static final List<Integer> LOGS = PreprocessPlan.logTable();

    private final PreprocessPlan plan;
    private final RealTransform transform;

    FeatureInterpreter(PreprocessPlan plan) {
        this.plan = plan;
        this.transform = new RealTransform(plan.signal().twiddles());
    }

    /**
     * The model's input for a recording.
     *
     * @param audio at least as many samples as one input takes; further ones are ignored
     */
    public Bytes input(short[] audio) {
        short[] signal = emphasized(audio);
        int bytes = plan.quantization().dtype().bytes();
        ByteBuffer rows =
                ByteBuffer.allocate(plan.frames() * plan.features() * bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int frame = 0; frame < plan.frames(); frame++) {
            long[] spectrum = spectrum(signal, frame * plan.pipeline().framing().hop());
            row(values(energies(spectrum)), rows);
        }
        return Bytes.wrap(rows.array());
    }

    /**
     * Real features of a recording: normalized as described, and not quantized.
     *
     * @param audio at least as many samples as one input takes; further ones are ignored
     * @param energyBits fraction bits of energies
     */
    float[] features(short[] audio, int energyBits) {
        short[] signal = emphasized(audio);
        AudioPipeline.Normalization normal = plan.pipeline().normalization();
        float[] features = new float[plan.frames() * plan.features()];
        for (int frame = 0; frame < plan.frames(); frame++) {
            double[] row = reals(
                    energies(spectrum(signal, frame * plan.pipeline().framing().hop())), energyBits);
            for (int i = 0; i < row.length; i++) {
                double mean = normal.mean().get(normal.mean().size() > 1 ? i : 0);
                double scale = normal.scale().get(normal.scale().size() > 1 ? i : 0);
                features[frame * row.length + i] = (float) ((row[i] - mean) * scale);
            }
        }
        return features;
    }

    /** A row of a frame as real numbers. Energies without a logarithm keep all of their bits. */
    private double[] reals(long[] energies, int energyBits) {
        return plan.scaling().logarithm().isPresent()
                ? Arrays.stream(values(energies))
                        .mapToDouble(value -> Math.scalb((double) value, -PreprocessPlan.LOG_BITS))
                        .toArray()
                : Arrays.stream(energies)
                        .mapToDouble(energy -> Math.scalb((double) energy, -energyBits))
                        .toArray();
    }

    private short[] emphasized(short[] audio) {
        short[] signal = new short[plan.samples()];
        int previous = 0;
        for (int i = 0; i < signal.length; i++) {
            int sample = audio[i] - ((plan.signal().preEmphasis() * previous + (1 << 14)) >> 15);
            signal[i] = (short) FixedPoint.clamp(sample, Short.MIN_VALUE, Short.MAX_VALUE);
            previous = audio[i];
        }
        return signal;
    }

    private long[] spectrum(short[] signal, int from) {
        int points = plan.pipeline().spectrum().fft();
        int[] bins = new int[points + 2];
        for (int i = 0; i < plan.pipeline().framing().window(); i++) {
            int place = 2 * transform.place(i / 2) + i % 2;
            bins[place] = plan.signal().window().isEmpty()
                    ? signal[from + i] << 14
                    : (signal[from + i] * plan.signal().window().get(i) + 1) >> 1;
        }
        transform.run(bins);
        long[] spectrum = new long[points / 2 + 1];
        for (int k = 0; k < spectrum.length; k++) {
            long power = (long) bins[2 * k] * bins[2 * k] + (long) bins[2 * k + 1] * bins[2 * k + 1];
            spectrum[k] = plan.pipeline().spectrum().isPower()
                    ? power >>> PreprocessPlan.POWER_SHIFT
                    : SquareRoot.floor(power);
        }
        return spectrum;
    }

    private long[] energies(long[] spectrum) {
        if (plan.filters().isEmpty()) {
            return spectrum;
        }
        Filters filters = plan.filters().get();
        long[] energies = new long[filters.first().size()];
        for (int c = 0; c < energies.length; c++) {
            int bin = filters.first().get(c);
            for (int i = filters.start().get(c); i < filters.start().get(c + 1); i++) {
                energies[c] += spectrum[bin++] * filters.weights().get(i);
            }
            energies[c] >>>= filters.shift().get(c);
        }
        return energies;
    }

    private int[] values(long[] energies) {
        int[] values = new int[energies.length];
        for (int c = 0; c < values.length; c++) {
            long energy = energies[c];
            values[c] = plan.scaling()
                    .logarithm()
                    .map(logarithm -> log(energy, logarithm))
                    .orElse((int) Math.min(
                            Integer.MAX_VALUE, energy >>> plan.scaling().linearShift()));
        }
        return plan.cosines().isEmpty() ? values : cepstrum(values);
    }

    private static int log(long energy, Logarithm logarithm) {
        long value = Math.max(energy + logarithm.offset(), logarithm.floor());
        int zeros = Long.numberOfLeadingZeros(value);
        long fraction = value << zeros;
        int index = (int) (fraction >>> 56) & 0x7f;
        int rest = (int) (fraction >>> 40) & 0xffff;
        int between = (LOGS.get(index + 1) - LOGS.get(index)) * rest;
        int log = ((63 - zeros - logarithm.fractionBits()) << PreprocessPlan.LOG_BITS)
                + LOGS.get(index)
                + ((between + 0x8000) >> 16);
        return logarithm
                .factor()
                .map(factor -> (int) FixedFactor.times(log, factor.mantissa(), factor.shift()))
                .orElse(log);
    }

    private int[] cepstrum(int[] channels) {
        int[] coefficients = new int[plan.features()];
        for (int k = 0; k < coefficients.length; k++) {
            long sum = 1 << 14;
            for (int c = 0; c < channels.length; c++) {
                sum += (long) plan.cosines().get(k * channels.length + c) * channels[c];
            }
            coefficients[k] = (int) (sum >> 15);
        }
        return coefficients;
    }

    private void row(int[] values, ByteBuffer rows) {
        Quantization to = plan.quantization();
        for (int i = 0; i < values.length; i++) {
            long difference = (long) values[i] - to.mean().get(to.mean().size() > 1 ? i : 0);
            int mantissa = to.mantissa().get(to.mantissa().size() > 1 ? i : 0);
            long steps = FixedFactor.times(difference, mantissa, to.shift()) + to.zeroPoint();
            int value = FixedPoint.clamp(steps, to.low(), to.high());
            if (to.dtype().bytes() == 2) {
                rows.putShort((short) value);
            } else {
                rows.put((byte) value);
            }
        }
    }

    /**
     * The Fourier transform of real integers: a complex one of half the points, in place, halved in every stage, whose result is separated. The
     * C has the same steps.
     */
    private static final class RealTransform {
        private final int half;
        private final List<Integer> twiddles;

        /**
         * A transform.
         *
         * @param twiddles of {@link PreprocessPlan}
         */
        RealTransform(List<Integer> twiddles) {
            this.half = twiddles.size() / 2;
            this.twiddles = twiddles;
        }

        /** Where a complex input has to lie: its index with its bits reversed. */
        int place(int index) {
            return Integer.reverse(index) >>> (Integer.numberOfLeadingZeros(half) + 1);
        }

        /**
         * Transforms.
         *
         * @param bins pairs of real inputs in bit-reversed places; afterwards real and imaginary parts of the bins from 0 to half the points
         */
        void run(int[] bins) {
            for (int span = 1; span < half; span *= 2) {
                int stride = half / span;
                for (int block = 0; block < half; block += 2 * span) {
                    for (int k = 0; k < span; k++) {
                        butterfly(bins, 2 * (block + k), 2 * (block + k + span), 2 * k * stride);
                    }
                }
            }
            separate(bins);
        }

        private void butterfly(int[] bins, int a, int b, int twiddle) {
            int re = bins[b];
            int im = bins[b + 1];
            if (twiddle != 0) {
                int cosine = twiddles.get(twiddle);
                int sine = twiddles.get(twiddle + 1);
                re = times(bins[b], cosine) + times(bins[b + 1], sine);
                im = times(bins[b + 1], cosine) - times(bins[b], sine);
            }
            bins[b] = (bins[a] - re + 1) >> 1;
            bins[b + 1] = (bins[a + 1] - im + 1) >> 1;
            bins[a] = (bins[a] + re + 1) >> 1;
            bins[a + 1] = (bins[a + 1] + im + 1) >> 1;
        }

        /** Even and odd samples, transformed as real and imaginary parts, become the bins of the whole. */
        private void separate(int[] bins) {
            int re0 = bins[0];
            int im0 = bins[1];
            bins[0] = re0 + im0;
            bins[1] = 0;
            bins[2 * half] = re0 - im0;
            bins[2 * half + 1] = 0;
            bins[half + 1] = -bins[half + 1];
            for (int k = 1; k < half / 2; k++) {
                int a = 2 * k;
                int b = 2 * (half - k);
                int evenRe = (bins[a] + bins[b]) >> 1;
                int evenIm = (bins[a + 1] - bins[b + 1]) >> 1;
                int oddRe = (bins[a + 1] + bins[b + 1]) >> 1;
                int oddIm = (bins[b] - bins[a]) >> 1;
                int re = times(oddRe, twiddles.get(a)) + times(oddIm, twiddles.get(a + 1));
                int im = times(oddIm, twiddles.get(a)) - times(oddRe, twiddles.get(a + 1));
                bins[a] = evenRe + re;
                bins[a + 1] = evenIm + im;
                bins[b] = evenRe - re;
                bins[b + 1] = im - evenIm;
            }
        }

        /** The product with a factor of 15 fraction bits, rounded. The C multiplies halves, because small cores have no long product. */
        static int times(int value, int factor) {
            return (int) FixedFactor.times(value, factor, 15);
        }
    }
}
