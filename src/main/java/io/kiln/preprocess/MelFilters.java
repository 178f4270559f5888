// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.preprocess.AudioPipeline.Mel;

/**
 * The triangles of a mel filterbank. HTK: mel = 2595 log10(1 + f/700) (HTK Book, 5.4). Slaney: 3 mel per 200 Hz below 1 kHz, then 27 per
 * factor 6.4 (Auditory Toolbox), as librosa has it.
 */
final class MelFilters {
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
