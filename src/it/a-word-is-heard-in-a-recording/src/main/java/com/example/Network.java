// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.util.Random;

/** Two fully connected layers: from the features of half a second to four words. */
final class Network {
    static final int HIDDEN = 16;

    final Dense first;
    final Dense last;
    private float[] middle;

    Network(long seed) {
        Random random = new Random(seed);
        first = new Dense(Features.ROWS * Features.CHANNELS, HIDDEN, random);
        last = new Dense(HIDDEN, Words.NAMES.length, random);
    }

    /** The probability of each word. */
    float[] forward(float[] features) {
        middle = first.forward(features);
        for (int i = 0; i < middle.length; i++) {
            middle[i] = Math.max(0, middle[i]);
        }
        float[] sums = last.forward(middle);
        float most = Float.NEGATIVE_INFINITY;
        for (float sum : sums) {
            most = Math.max(most, sum);
        }
        float total = 0;
        for (int c = 0; c < sums.length; c++) {
            sums[c] = (float) Math.exp(sums[c] - most);
            total += sums[c];
        }
        for (int c = 0; c < sums.length; c++) {
            sums[c] /= total;
        }
        return sums;
    }

    /** Adds the gradients of the cross entropy for one recording. */
    void backward(float[] features, int label, float share) {
        float[] gradient = forward(features);
        gradient[label] -= 1;
        for (int c = 0; c < gradient.length; c++) {
            gradient[c] *= share;
        }
        float[] before = last.backward(gradient);
        for (int i = 0; i < before.length; i++) {
            before[i] = middle[i] > 0 ? before[i] : 0;
        }
        first.backward(before);
    }

    void learn(float rate) {
        first.learn(rate);
        last.learn(rate);
    }
}
