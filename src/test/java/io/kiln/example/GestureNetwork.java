// SPDX-License-Identifier: Apache-2.0
package io.kiln.example;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The network in floating point: convolution, depthwise and pointwise convolution, mean over time, dense layer. */
final class GestureNetwork {
    private static final long SEED = 20_260_101;
    private static final int BATCH = 16;
    private static final int STEPS = 600;

    final List<TrainableConvolution> features;
    final TrainableConvolution classifier;

    private GestureNetwork(Random random) {
        features = List.of(
                new TrainableConvolution(5, 2, Gesture.AXES, 8, false, true, random),
                new TrainableConvolution(5, 1, 8, 8, true, true, random),
                new TrainableConvolution(1, 1, 8, 12, false, true, random));
        classifier = new TrainableConvolution(1, 1, 12, Gesture.LABELS.size(), false, false, random);
    }

    /** Every value that a sample leads to: the sample, each layer's output, the mean, the logits. */
    record Trace(List<double[][]> values) {
        double[][] mean() {
            return values.get(values.size() - 2);
        }

        double[][] logits() {
            return values.get(values.size() - 1);
        }
    }

    /** Trains a new network; always the same one. */
    static GestureNetwork train() {
        Random random = new Random(SEED);
        GestureNetwork network = new GestureNetwork(random);
        for (int step = 1; step <= STEPS; step++) {
            for (int i = 0; i < BATCH; i++) {
                Gesture gesture = Gesture.LABELS.get(random.nextInt(Gesture.LABELS.size()));
                network.learn(gesture.sample(random), gesture.label());
            }
            for (TrainableConvolution layer : network.features) {
                layer.update(step);
            }
            network.classifier.update(step);
        }
        return network;
    }

    Trace run(double[][] sample) {
        List<double[][]> values = new ArrayList<>();
        values.add(sample);
        for (TrainableConvolution layer : features) {
            values.add(layer.forward(values.get(values.size() - 1)));
        }
        double[][] last = values.get(values.size() - 1);
        double[][] mean = new double[1][last[0].length];
        for (double[] row : last) {
            for (int c = 0; c < row.length; c++) {
                mean[0][c] += row[c] / last.length;
            }
        }
        values.add(mean);
        values.add(classifier.forward(mean));
        return new Trace(values);
    }

    /** One sample's share of the gradient of the cross entropy. */
    private void learn(double[][] sample, int label) {
        Trace trace = run(sample);
        double[][] gradient = {softmax(trace.logits()[0])};
        gradient[0][label] -= 1;
        for (int i = 0; i < gradient[0].length; i++) {
            gradient[0][i] /= BATCH;
        }
        double[][] mean = classifier.backward(trace.mean(), trace.logits(), gradient);
        double[][] last = trace.values.get(features.size());
        double[][] spread = new double[last.length][last[0].length];
        for (double[] row : spread) {
            for (int c = 0; c < row.length; c++) {
                row[c] = mean[0][c] / last.length;
            }
        }
        for (int i = features.size() - 1; i >= 0; i--) {
            spread = features.get(i).backward(trace.values.get(i), trace.values.get(i + 1), spread);
        }
    }

    private static double[] softmax(double[] logits) {
        double max = logits[0];
        for (double logit : logits) {
            max = Math.max(max, logit);
        }
        double[] result = new double[logits.length];
        double sum = 0;
        for (int i = 0; i < logits.length; i++) {
            result[i] = StrictMath.exp(logits[i] - max);
            sum += result[i];
        }
        for (int i = 0; i < logits.length; i++) {
            result[i] /= sum;
        }
        return result;
    }
}
