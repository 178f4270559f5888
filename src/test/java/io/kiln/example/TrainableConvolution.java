// SPDX-License-Identifier: Apache-2.0
package io.kiln.example;

import java.util.Random;

/**
 * A convolution over time, SAME padding, with its gradient and Adam's state. Weights lie as TFLite wants them: out, kernel, in;
 * for a depthwise layer kernel, channel.
 */
final class TrainableConvolution {
    private static final double RATE = 0.01;
    private static final double MOMENTUM = 0.9;
    private static final double SQUARES = 0.999;
    private static final double EPSILON = 1e-8;

    final int kernel;
    final int stride;
    final int in;
    final int out;
    final boolean depthwise;
    final boolean relu;
    final Parameters weights;
    final Parameters bias;

    TrainableConvolution(int kernel, int stride, int in, int out, boolean depthwise, boolean relu, Random random) {
        this.kernel = kernel;
        this.stride = stride;
        this.in = in;
        this.out = out;
        this.depthwise = depthwise;
        this.relu = relu;
        int fanIn = kernel * (depthwise ? 1 : in);
        this.weights = new Parameters(fanIn * out);
        this.bias = new Parameters(out);
        for (int i = 0; i < weights.values.length; i++) {
            weights.values[i] = (2 * random.nextDouble() - 1) * Math.sqrt(3.0 / fanIn);
        }
    }

    /** Values that are learnt. */
    static final class Parameters {
        final double[] values;
        private final double[] gradient;
        private final double[] mean;
        private final double[] square;

        Parameters(int count) {
            values = new double[count];
            gradient = new double[count];
            mean = new double[count];
            square = new double[count];
        }

        /** One step of Adam; clears the gradient. */
        private void update(double meanScale, double squareScale) {
            for (int i = 0; i < values.length; i++) {
                mean[i] = MOMENTUM * mean[i] + (1 - MOMENTUM) * gradient[i];
                square[i] = SQUARES * square[i] + (1 - SQUARES) * gradient[i] * gradient[i];
                values[i] -= RATE * (mean[i] * meanScale) / (Math.sqrt(square[i] * squareScale) + EPSILON);
                gradient[i] = 0;
            }
        }
    }

    double[][] forward(double[][] x) {
        int length = (x.length + stride - 1) / stride;
        int pad = pad(x.length, length);
        double[][] y = new double[length][out];
        for (int t = 0; t < length; t++) {
            for (int o = 0; o < out; o++) {
                double sum = bias.values[o];
                for (int k = 0; k < kernel; k++) {
                    int from = t * stride - pad + k;
                    if (from >= 0 && from < x.length) {
                        sum += taps(x[from], o, k);
                    }
                }
                y[t][o] = relu ? Math.max(0, sum) : sum;
            }
        }
        return y;
    }

    private double taps(double[] x, int o, int k) {
        if (depthwise) {
            return x[o] * weights.values[k * out + o];
        }
        double sum = 0;
        for (int c = 0; c < in; c++) {
            sum += x[c] * weights.values[(o * kernel + k) * in + c];
        }
        return sum;
    }

    /** Adds to the gradient and returns the input's; {@code dy} is the output's. */
    double[][] backward(double[][] x, double[][] y, double[][] dy) {
        int pad = pad(x.length, y.length);
        double[][] dx = new double[x.length][in];
        for (int t = 0; t < y.length; t++) {
            for (int o = 0; o < out; o++) {
                if (relu && y[t][o] <= 0) {
                    continue;
                }
                bias.gradient[o] += dy[t][o];
                for (int k = 0; k < kernel; k++) {
                    int from = t * stride - pad + k;
                    if (from >= 0 && from < x.length) {
                        backwardTaps(x[from], dx[from], dy[t][o], o, k);
                    }
                }
            }
        }
        return dx;
    }

    private void backwardTaps(double[] x, double[] dx, double d, int o, int k) {
        int first = depthwise ? o : 0;
        int last = depthwise ? o + 1 : in;
        for (int c = first; c < last; c++) {
            int w = depthwise ? k * out + o : (o * kernel + k) * in + c;
            weights.gradient[w] += d * x[c];
            dx[c] += d * weights.values[w];
        }
    }

    void update(int step) {
        double meanScale = 1 / (1 - StrictMath.pow(MOMENTUM, step));
        double squareScale = 1 / (1 - StrictMath.pow(SQUARES, step));
        weights.update(meanScale, squareScale);
        bias.update(meanScale, squareScale);
    }

    private int pad(int length, int outLength) {
        return Math.max(0, (outLength - 1) * stride + kernel - length) / 2;
    }
}
