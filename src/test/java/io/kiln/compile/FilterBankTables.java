// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import java.util.Arrays;
import java.util.List;

/**
 * The tables of an audio front end's filter bank, channels at equal distances in Mel, computed as TensorFlow Lite Micro's
 * python/tflite_micro/signal/ops/filter_bank_ops.py computes them: in single precision.
 *
 * @param start first frequency of the spectrum that counts
 * @param end frequency behind the last
 */
record FilterBankTables(
        int start,
        int end,
        List<Integer> weights,
        List<Integer> unweights,
        List<Integer> frequencyStarts,
        List<Integer> weightStarts,
        List<Integer> widths) {
    private static final int ALIGNMENT = 2;
    private static final int BLOCK = 4;
    private static final int WEIGHT_BITS = 12;

    /**
     * The tables for channels between two limits.
     *
     * @param hertz width of one frequency of the spectrum
     */
    static FilterBankTables of(int channels, float hertz, float lower, float upper) {
        float[] centers = centers(channels, lower, upper);
        int[] first = new int[channels + 2];
        first[0] = Math.round(1 + lower / hertz);
        int[] frequencyStarts = new int[channels + 1];
        int[] weightStarts = new int[channels + 1];
        int[] widths = new int[channels + 1];
        int count = 0;
        for (int c = 0; c <= channels; c++) {
            int next = first[c];
            while (mel(next * hertz) <= centers[c]) {
                next++;
            }
            first[c + 1] = next;
            frequencyStarts[c] = first[c] / ALIGNMENT * ALIGNMENT;
            weightStarts[c] = count;
            widths[c] = (next - frequencyStarts[c] + BLOCK - 1) / BLOCK * BLOCK;
            count += widths[c];
        }
        int[] weights = new int[count];
        int[] unweights = new int[count];
        for (int c = 0; c <= channels; c++) {
            float below = c == 0 ? mel(lower) : centers[c - 1];
            for (int f = first[c]; f < first[c + 1]; f++) {
                float weight = (centers[c] - mel(f * hertz)) / (centers[c] - below);
                int at = weightStarts[c] + f - frequencyStarts[c];
                weights[at] = (int) (weight * (1 << WEIGHT_BITS));
                unweights[at] = (int) ((1 - weight) * (1 << WEIGHT_BITS));
            }
        }
        return new FilterBankTables(
                first[0],
                Arrays.stream(first).max().orElseThrow(),
                list(weights),
                list(unweights),
                list(frequencyStarts),
                list(weightStarts),
                list(widths));
    }

    private static float[] centers(int channels, float lower, float upper) {
        float[] centers = new float[channels + 1];
        float spacing = (mel(upper) - mel(lower)) / (channels + 1);
        for (int c = 0; c <= channels; c++) {
            centers[c] = mel(lower) + spacing * (c + 1);
        }
        return centers;
    }

    private static List<Integer> list(int... values) {
        return Arrays.stream(values).boxed().toList();
    }

    private static float mel(float hertz) {
        return (float) (1127.0 * Math.log1p(hertz / 700.0));
    }

    /**
     * Gains by the binary logarithm of a noise, three numbers for each: those of a polynomial of degree 2, as
     * TensorFlow Lite Micro's python/tflite_micro/signal/utils has them.
     *
     * @param inputBits of the noise behind the point
     * @param gainBits of a gain behind the point
     */
    static List<Integer> gains(float strength, float offset, int inputBits, int gainBits) {
        int[] gains = new int[4 * Integer.SIZE - 3];
        gains[0] = gain(strength, offset, inputBits, gainBits, 0);
        gains[1] = gain(strength, offset, inputBits, gainBits, 1);
        for (int interval = 2; interval <= Integer.SIZE; interval++) {
            long x0 = 1L << (interval - 1);
            long x2 = interval == Integer.SIZE ? 2 * x0 - 1 : 2 * x0;
            int y0 = gain(strength, offset, inputBits, gainBits, x0);
            int half = gain(strength, offset, inputBits, gainBits, x0 + x0 / 2) - y0;
            int whole = gain(strength, offset, inputBits, gainBits, x2) - y0;
            int at = 4 * interval - 6;
            gains[at] = y0;
            gains[at + 1] = 4 * half - whole;
            gains[at + 2] = whole - (4 * half - whole);
        }
        return list(gains);
    }

    private static int gain(float strength, float offset, int inputBits, int gainBits, long x) {
        float value = (float) x / (1L << inputBits);
        float gain = (1L << gainBits) * (float) Math.pow(value + offset, -strength);
        return gain > Short.MAX_VALUE ? Short.MAX_VALUE : (int) (gain + 0.5f);
    }
}
