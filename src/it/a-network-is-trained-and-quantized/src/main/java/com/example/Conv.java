// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.util.Random;

/** A convolution of 3x3 with stride 2 and a padding of 1, and a ReLU. Images are NCHW. */
final class Conv {
    static final int KERNEL = 3;

    final int inputs;
    final int outputs;
    final Weights weights;
    final Weights bias;
    private final int size;
    private float[] data;
    private float[] result;

    /**
     * @param size rows and columns of the data; even
     */
    Conv(int inputs, int outputs, int size, Random random) {
        this.inputs = inputs;
        this.outputs = outputs;
        this.size = size;
        int fan = inputs * KERNEL * KERNEL;
        this.weights = new Weights(outputs * fan, Math.sqrt(2.0 / fan), random);
        this.bias = new Weights(outputs, 0, random);
    }

    /** What to do with an output, an input and the weight that joins them. */
    private interface Tap {
        void at(int output, int input, int weight);
    }

    private void eachTap(Tap tap) {
        int half = size / 2;
        for (int o = 0; o < outputs * half * half; o++) {
            int channel = o / (half * half);
            int top = o / half % half * 2 - 1;
            int left = o % half * 2 - 1;
            for (int w = 0; w < inputs * KERNEL * KERNEL; w++) {
                int y = top + w / KERNEL % KERNEL;
                int x = left + w % KERNEL;
                if (y >= 0 && y < size && x >= 0 && x < size) {
                    int input = (w / (KERNEL * KERNEL) * size + y) * size + x;
                    tap.at(o, input, channel * inputs * KERNEL * KERNEL + w);
                }
            }
        }
    }

    float[] forward(float[] image) {
        int area = size / 2 * (size / 2);
        data = image;
        result = new float[outputs * area];
        for (int o = 0; o < result.length; o++) {
            result[o] = bias.values[o / area];
        }
        eachTap((o, i, w) -> result[o] += image[i] * weights.values[w]);
        for (int o = 0; o < result.length; o++) {
            result[o] = Math.max(0, result[o]);
        }
        return result;
    }

    /** Takes the gradient of the result, adds those of the weights, and gives that of the data. */
    float[] backward(float[] gradient) {
        int area = size / 2 * (size / 2);
        for (int o = 0; o < gradient.length; o++) {
            gradient[o] = result[o] > 0 ? gradient[o] : 0;
            bias.gradients[o / area] += gradient[o];
        }
        float[] before = new float[data.length];
        eachTap((o, i, w) -> {
            before[i] += gradient[o] * weights.values[w];
            weights.gradients[w] += gradient[o] * data[i];
        });
        return before;
    }

    void learn(float rate) {
        weights.learn(rate);
        bias.learn(rate);
    }
}
