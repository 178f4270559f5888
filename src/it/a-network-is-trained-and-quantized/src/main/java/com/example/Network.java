// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.util.Random;

/** Two convolutions and a fully connected layer: from an image of 12x12 to ten classes. */
final class Network {
    final Conv first;
    final Conv second;
    final Dense last;

    Network(long seed) {
        Random random = new Random(seed);
        first = new Conv(1, 8, Digits.SIZE, random);
        second = new Conv(8, 16, Digits.SIZE / 2, random);
        last = new Dense(16 * (Digits.SIZE / 4) * (Digits.SIZE / 4), Digits.CLASSES, random);
    }

    /** The probability of each class. */
    float[] forward(float[] image) {
        float[] sums = last.forward(second.forward(first.forward(image)));
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

    /** Adds the gradients of the cross entropy for one image. */
    void backward(float[] image, int label, float share) {
        float[] gradient = forward(image);
        gradient[label] -= 1;
        for (int c = 0; c < gradient.length; c++) {
            gradient[c] *= share;
        }
        first.backward(second.backward(last.backward(gradient)));
    }

    void learn(float rate) {
        first.learn(rate);
        second.learn(rate);
        last.learn(rate);
    }
}
