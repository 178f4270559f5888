// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.util.Random;

/** A fully connected layer. */
final class Dense {
    final int inputs;
    final int units;
    final Weights weights;
    final Weights bias;
    private float[] data;

    Dense(int inputs, int units, Random random) {
        this.inputs = inputs;
        this.units = units;
        this.weights = new Weights(units * inputs, Math.sqrt(1.0 / inputs), random);
        this.bias = new Weights(units, 0, random);
    }

    float[] forward(float[] vector) {
        data = vector;
        float[] sums = bias.values.clone();
        for (int w = 0; w < weights.values.length; w++) {
            sums[w / inputs] += vector[w % inputs] * weights.values[w];
        }
        return sums;
    }

    /** Takes the gradient of the result, adds those of the weights, and gives that of the data. */
    float[] backward(float[] gradient) {
        float[] before = new float[inputs];
        for (int w = 0; w < weights.values.length; w++) {
            before[w % inputs] += gradient[w / inputs] * weights.values[w];
            weights.gradients[w] += gradient[w / inputs] * data[w % inputs];
        }
        for (int u = 0; u < units; u++) {
            bias.gradients[u] += gradient[u];
        }
        return before;
    }

    void learn(float rate) {
        weights.learn(rate);
        bias.learn(rate);
    }
}
