// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Features in double precision, straight from the definitions of librosa and TensorFlow ({@code stft} without centring, {@code
 * filters.mel}, {@code linear_to_mel_weight_matrix}, {@code power_to_db}, {@code dct}): a transform by its sum, and no code shared with the integers.
 */
final class FloatFeatures {
    private final AudioPipeline pipeline;
    private final double[] cosines;

    FloatFeatures(AudioPipeline pipeline) {
        this.pipeline = pipeline;
        int fft = pipeline.spectrum().fft();
        this.cosines = IntStream.range(0, fft)
                .mapToDouble(i -> Math.cos(2 * Math.PI * i / fft))
                .toArray();
    }

    /** The features of the frame that begins at a sample, before quantization. */
    double[] row(short[] audio, int from) {
        double[] energies = energies(bins(audio, from));
        double[] values = pipeline.log()
                .map(log -> Arrays.stream(energies)
                        .map(e -> log.scale()
                                * Math.log(Math.max(Math.max(e + log.offset(), log.floor()), 1e-300))
                                / Math.log(log.base()))
                        .toArray())
                .orElse(energies);
        double[] features = pipeline.cepstrum()
                .map(dct -> cosines(values, dct.coefficients(), dct.isOrthonormal()))
                .orElse(values);
        for (int i = 0; i < features.length; i++) {
            var mean = pipeline.normalization().mean();
            var scale = pipeline.normalization().scale();
            features[i] = (features[i] - mean.get(i % mean.size())) * scale.get(i % scale.size());
        }
        return features;
    }

    private double[] bins(short[] audio, int from) {
        int window = pipeline.framing().window();
        int fft = pipeline.spectrum().fft();
        double[] bins = new double[fft / 2 + 1];
        double[] frame = frame(audio, from, window);
        for (int k = 0; k < bins.length; k++) {
            double re = 0;
            double im = 0;
            for (int i = 0; i < window; i++) {
                int turn = (int) ((long) i * k % fft);
                re += frame[i] * cosines[turn];
                im += frame[i] * cosines[(turn + fft / 4) % fft];
            }
            double power = re * re + im * im;
            bins[k] = pipeline.spectrum().isPower() ? power : Math.sqrt(power);
        }
        return bins;
    }

    private double[] frame(short[] audio, int from, int window) {
        double[] frame = new double[window];
        for (int i = 0; i < window; i++) {
            double before = from + i == 0 ? 0 : audio[from + i - 1];
            double phase = 2 * Math.PI * i / window;
            double factor = switch (pipeline.framing().shape()) {
                case HANN -> 0.5 * (1 - Math.cos(phase));
                case HAMMING -> 0.54 - 0.46 * Math.cos(phase);
                case RECTANGULAR -> 1;
            };
            frame[i] = factor * (audio[from + i] - pipeline.framing().preEmphasis() * before) / 32768;
        }
        return frame;
    }

    private double[] energies(double[] bins) {
        if (pipeline.mel().isEmpty()) {
            return bins;
        }
        AudioPipeline.Mel mel = pipeline.mel().get();
        double low = mel(mel.lower());
        double step = (mel(mel.upper()) - low) / (mel.channels() + 1);
        double[] energies = new double[mel.channels()];
        for (int c = 0; c < energies.length; c++) {
            double[] edge = {low + c * step, low + (c + 1) * step, low + (c + 2) * step};
            double[] hertz = Arrays.stream(edge).map(this::hertz).toArray();
            double[] corner = mel.isInMel() ? edge : hertz;
            for (int k = 0; k < bins.length; k++) {
                double frequency =
                        (double) k * pipeline.sampleRate() / pipeline.spectrum().fft();
                double at = mel.isInMel() ? mel(frequency) : frequency;
                double weight = Math.min(
                        (at - corner[0]) / (corner[1] - corner[0]), (corner[2] - at) / (corner[2] - corner[1]));
                energies[c] += Math.max(0, weight) * bins[k] * (mel.isOfEqualArea() ? 2 / (hertz[2] - hertz[0]) : 1);
            }
        }
        return energies;
    }

    private double mel(double hertz) {
        if (!pipeline.mel().orElseThrow().isSlaney()) {
            return 1127.01048 * Math.log(1 + hertz / 700);
        }
        return hertz < 1000 ? 3 * hertz / 200 : 15 + 27 * Math.log(hertz / 1000) / Math.log(6.4);
    }

    private double hertz(double mel) {
        if (!pipeline.mel().orElseThrow().isSlaney()) {
            return 700 * (Math.exp(mel / 1127.01048) - 1);
        }
        return mel < 15 ? mel * 200 / 3 : 1000 * Math.pow(6.4, (mel - 15) / 27);
    }

    private static double[] cosines(double[] values, int coefficients, boolean isOrthonormal) {
        double[] result = new double[coefficients];
        for (int k = 0; k < coefficients; k++) {
            for (int c = 0; c < values.length; c++) {
                result[k] += values[c] * Math.cos(Math.PI * k * (c + 0.5) / values.length);
            }
            result[k] *= Math.sqrt((k == 0 && isOrthonormal ? 1.0 : 2.0) / values.length);
        }
        return result;
    }
}
