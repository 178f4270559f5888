// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.util.Random;

/** Numbers that a layer learns, by gradient descent with momentum. */
final class Weights {
    private static final float MOMENTUM = 0.9f;

    final float[] values;
    final float[] gradients;
    private final float[] steps;

    /** Begins with N(0, deviation squared). */
    Weights(int count, double deviation, Random random) {
        values = new float[count];
        gradients = new float[count];
        steps = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) (deviation * random.nextGaussian());
        }
    }

    /** One step against the gradients, which begin anew. */
    void learn(float rate) {
        for (int i = 0; i < values.length; i++) {
            steps[i] = MOMENTUM * steps[i] - rate * gradients[i];
            values[i] += steps[i];
            gradients[i] = 0;
        }
    }
}
