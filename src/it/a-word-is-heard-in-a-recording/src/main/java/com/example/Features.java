// SPDX-License-Identifier: Apache-2.0
package com.example;

/** The features of {@code words.preprocess.yaml} in floating point, as a training in Python would have them from librosa. */
final class Features {
    static final int ROWS = 21;
    static final int CHANNELS = 12;

    private static final int WINDOW = 256;
    private static final int HOP = 192;
    private static final double LOWER = 100;
    private static final double UPPER = 4000;

    private static final double[] COSINES = new double[WINDOW];
    private static final double[] SHAPE = new double[WINDOW];
    private static final double[][] FILTERS = new double[CHANNELS][WINDOW / 2 + 1];

    static {
        for (int i = 0; i < WINDOW; i++) {
            COSINES[i] = Math.cos(2 * Math.PI * i / WINDOW);
            SHAPE[i] = 0.5 - 0.5 * COSINES[i];
        }
        for (int c = 0; c < CHANNELS; c++) {
            for (int k = 0; k <= WINDOW / 2; k++) {
                double frequency = (double) k * Words.RATE / WINDOW;
                double up = (frequency - edge(c)) / (edge(c + 1) - edge(c));
                double down = (edge(c + 2) - frequency) / (edge(c + 2) - edge(c + 1));
                FILTERS[c][k] = Math.max(0, Math.min(up, down));
            }
        }
    }

    private Features() {}

    static float[] of(short[] audio) {
        float[] features = new float[ROWS * CHANNELS];
        for (int row = 0; row < ROWS; row++) {
            double[] power = power(audio, row * HOP);
            for (int c = 0; c < CHANNELS; c++) {
                double energy = 0;
                for (int k = 0; k < power.length; k++) {
                    energy += FILTERS[c][k] * power[k];
                }
                features[row * CHANNELS + c] = (float) ((Math.log(energy + 1e-4) + 2) * 0.3);
            }
        }
        return features;
    }

    private static double[] power(short[] audio, int from) {
        double[] power = new double[WINDOW / 2 + 1];
        for (int k = 0; k < power.length; k++) {
            double re = 0;
            double im = 0;
            for (int i = 0; i < WINDOW; i++) {
                double sample = SHAPE[i] * audio[from + i] / 32768;
                re += sample * COSINES[i * k % WINDOW];
                im += sample * COSINES[(i * k + WINDOW / 4) % WINDOW];
            }
            power[k] = re * re + im * im;
        }
        return power;
    }

    private static double edge(int number) {
        double low = 2595 * Math.log10(1 + LOWER / 700);
        double high = 2595 * Math.log10(1 + UPPER / 700);
        return 700 * (Math.pow(10, (low + (high - low) * number / (CHANNELS + 1)) / 2595) - 1);
    }
}
