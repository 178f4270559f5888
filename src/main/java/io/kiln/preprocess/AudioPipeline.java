// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.preprocess.AudioPipeline.Mel;
import java.util.List;
import java.util.Optional;

/**
 * How audio becomes rows of features, as a user describes it. All numbers are real; {@link PreprocessPlan} makes integers of them. A
 * sample of 16 bits stands for its value divided by 32768.
 *
 * @param sampleRate samples per second
 * @param framing how the signal is cut into frames
 * @param spectrum what the Fourier transform of a frame gives
 * @param mel the filterbank; empty for the bins of the spectrum themselves
 * @param log the logarithm; empty for none
 * @param cepstrum the cosine transform, after the logarithm; empty for none
 * @param normalization what is done to the features last
 */
public record AudioPipeline(
        int sampleRate,
        Framing framing,
        Spectrum spectrum,
        Optional<Mel> mel,
        Optional<Log> log,
        Optional<Cepstrum> cepstrum,
        Normalization normalization) {

    /**
     * How the signal is cut into frames.
     *
     * @param window samples of a frame
     * @param hop samples from the start of a frame to the start of the next
     * @param shape the window function
     * @param preEmphasis share of the sample before that is taken off each sample, 0 or more and below 1
     */
    public record Framing(int window, int hop, Shape shape, double preEmphasis) {}

    /** Window functions, periodic as in librosa, TensorFlow and torchaudio. */
    public enum Shape {
        HANN,
        HAMMING,
        RECTANGULAR;

        /** The factor of sample {@code i} of {@code window}. */
        double at(int i, int window) {
            double cosine = StrictMath.cos(2 * StrictMath.PI * i / window);
            return switch (this) {
                case HANN -> 0.5 - 0.5 * cosine;
                case HAMMING -> 0.54 - 0.46 * cosine;
                case RECTANGULAR -> 1;
            };
        }
    }

    /**
     * The spectrum of a frame: its Fourier transform, without a factor.
     *
     * @param fft points of the transform, a power of two; a shorter frame is followed by zeros
     * @param isPower whether the bins are squared magnitudes rather than magnitudes
     */
    public record Spectrum(int fft, boolean isPower) {
        /** Frequencies from 0 to half the sample rate. */
        public int bins() {
            return fft / 2 + 1;
        }
    }

    /**
     * A bank of triangular filters at equal distances on the mel scale.
     *
     * @param channels number of filters
     * @param lower where the first begins, in hertz
     * @param upper where the last ends, in hertz
     * @param isSlaney whether the scale is Slaney's (linear below 1 kHz) rather than HTK's
     * @param isInMel whether the triangles are straight over mel, as TensorFlow's are, rather than over hertz
     * @param isOfEqualArea whether each filter is divided by half its width in hertz
     */
    public record Mel(
            int channels, double lower, double upper, boolean isSlaney, boolean isInMel, boolean isOfEqualArea) {}

    /**
     * {@code scale * log_base(max(value + offset, floor))}.
     *
     * @param base 2, 10 or e
     * @param scale 10 for decibels of a power
     * @param offset 0 or more
     * @param floor 0 for the smallest value that the integers have
     */
    public record Log(double base, double scale, double offset, double floor) {}

    /**
     * The cosine transform of type II over the channels, whose first coefficients are kept.
     *
     * @param coefficients how many
     * @param isOrthonormal whether the first coefficient is divided by the square root of 2 (as in SciPy), or not (as in HTK)
     */
    public record Cepstrum(int coefficients, boolean isOrthonormal) {}

    /**
     * {@code (value - mean) * scale}.
     *
     * @param mean one for all features, or one for each
     * @param scale likewise
     * @param input the quantization of the model's input; empty for what the model's file states
     */
    public record Normalization(List<Double> mean, List<Double> scale, Optional<InputScale> input) {
        public Normalization {
            mean = List.copyOf(mean);
            scale = List.copyOf(scale);
        }
    }

    /**
     * {@code value / scale + zeroPoint}.
     *
     * @param scale above 0
     * @param zeroPoint the integer that stands for 0
     */
    public record InputScale(float scale, int zeroPoint) {}

    /** Channels before the cosine transform. */
    int channels() {
        return mel.map(Mel::channels).orElse(spectrum.bins());
    }

    /** Features of a frame. */
    public int features() {
        return cepstrum.map(Cepstrum::coefficients).orElse(channels());
    }

    /**
     * The triangles of a mel filterbank. HTK: mel = 2595 log10(1 + f/700) (HTK Book, 5.4). Slaney: 3 mel per 200 Hz below 1 kHz, then 27 per
     * factor 6.4 (Auditory Toolbox), as librosa has it.
     */
    static final class MelFilters {
        private static final double SLANEY_LINEAR = 200.0 / 3;
        private static final double SLANEY_BREAK = 1000;
        private static final double SLANEY_STEP = StrictMath.log(6.4) / 27;

        private MelFilters() {}

        /**
         * Weights of every bin in every channel.
         *
         * @return {@code [channel][bin]}, 0 or more
         */
        static double[][] weights(Mel mel, int sampleRate, int fft) {
            double[] edges = edges(mel);
            double[][] weights = new double[mel.channels()][fft / 2 + 1];
            for (int c = 0; c < mel.channels(); c++) {
                double area = mel.isOfEqualArea()
                        ? 2 / (hertz(edges[c + 2], mel.isSlaney()) - hertz(edges[c], mel.isSlaney()))
                        : 1;
                double left = position(edges[c], mel);
                double centre = position(edges[c + 1], mel);
                double right = position(edges[c + 2], mel);
                for (int k = 0; k <= fft / 2; k++) {
                    double frequency = (double) k * sampleRate / fft;
                    double at = mel.isInMel() ? mel(frequency, mel.isSlaney()) : frequency;
                    double up = (at - left) / (centre - left);
                    double down = (right - at) / (right - centre);
                    weights[c][k] = area * Math.max(0, Math.min(up, down));
                }
            }
            return weights;
        }

        /** Ends and centres in mel, at equal distances. */
        private static double[] edges(Mel mel) {
            double low = mel(mel.lower(), mel.isSlaney());
            double high = mel(mel.upper(), mel.isSlaney());
            double[] edges = new double[mel.channels() + 2];
            for (int i = 0; i < edges.length; i++) {
                edges[i] = low + (high - low) * i / (mel.channels() + 1);
            }
            return edges;
        }

        private static double position(double edge, Mel mel) {
            return mel.isInMel() ? edge : hertz(edge, mel.isSlaney());
        }

        private static double mel(double hertz, boolean isSlaney) {
            if (!isSlaney) {
                return 2595 * StrictMath.log10(1 + hertz / 700);
            }
            return hertz < SLANEY_BREAK
                    ? hertz / SLANEY_LINEAR
                    : SLANEY_BREAK / SLANEY_LINEAR + StrictMath.log(hertz / SLANEY_BREAK) / SLANEY_STEP;
        }

        private static double hertz(double mel, boolean isSlaney) {
            if (!isSlaney) {
                return 700 * (StrictMath.pow(10, mel / 2595) - 1);
            }
            double atBreak = SLANEY_BREAK / SLANEY_LINEAR;
            return mel < atBreak ? mel * SLANEY_LINEAR : SLANEY_BREAK * StrictMath.exp((mel - atBreak) * SLANEY_STEP);
        }
    }
}
