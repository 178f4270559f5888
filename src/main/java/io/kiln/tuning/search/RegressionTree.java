// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * A regression tree of gradient boosting with squared error. A leaf answers the sum of its residuals over their number plus
 * {@link #LAMBDA}; a split gains what XGBoost's structure score gains (Chen and Guestrin, 2016, equation 7).
 */
sealed interface RegressionTree {
    /** Depth of a tree. */
    int MOST_DEPTH = 3;

    /** Regularisation of leaves. */
    double LAMBDA = 1;

    /** The least gain of a split. */
    double GAMMA = 1e-4;

    /** The answer for a vector of features. */
    double predict(double[] features);

    /** An answer. */
    record Leaf(double value) implements RegressionTree {
        @Override
        public double predict(double[] features) {
            return value;
        }
    }

    /** A question: whether a feature is less than a threshold. */
    record Split(int feature, double threshold, RegressionTree less, RegressionTree more) implements RegressionTree {
        @Override
        public double predict(double[] features) {
            return features[feature] < threshold ? less.predict(features) : more.predict(features);
        }
    }

    /** The best place for a split so far. */
    record Cut(double gain, int feature, double threshold) {}

    /**
     * Grows a tree.
     *
     * @param x features of the samples
     * @param residuals what is to be explained
     */
    static RegressionTree grow(double[][] x, double[] residuals) {
        return grow(x, residuals, IntStream.range(0, x.length).toArray(), MOST_DEPTH);
    }

    private static RegressionTree grow(double[][] x, double[] residuals, int[] samples, int depth) {
        double sum = Arrays.stream(samples).mapToDouble(i -> residuals[i]).sum();
        Leaf leaf = new Leaf(sum / (samples.length + LAMBDA));
        if (depth == 0 || samples.length < 2) {
            return leaf;
        }
        Cut best = new Cut(GAMMA, -1, 0);
        for (int feature = 0; feature < x[0].length; feature++) {
            best = better(best, x, residuals, samples, feature, sum);
        }
        if (best.feature < 0) {
            return leaf;
        }
        Cut cut = best;
        int[] less = Arrays.stream(samples)
                .filter(i -> x[i][cut.feature] < cut.threshold)
                .toArray();
        int[] more = Arrays.stream(samples)
                .filter(i -> x[i][cut.feature] >= cut.threshold)
                .toArray();
        return new Split(
                cut.feature, cut.threshold, grow(x, residuals, less, depth - 1), grow(x, residuals, more, depth - 1));
    }

    private static Cut better(Cut best, double[][] x, double[] residuals, int[] samples, int feature, double sum) {
        int[] sorted = Arrays.stream(samples)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> x[i][feature]))
                .mapToInt(i -> i)
                .toArray();
        double whole = score(sum, sorted.length);
        double left = 0;
        for (int i = 0; i + 1 < sorted.length; i++) {
            left += residuals[sorted[i]];
            double value = x[sorted[i]][feature];
            double next = x[sorted[i + 1]][feature];
            if (value < next) {
                double gain = (score(left, i + 1) + score(sum - left, sorted.length - i - 1) - whole) / 2;
                if (gain > best.gain) {
                    best = new Cut(gain, feature, (value + next) / 2);
                }
            }
        }
        return best;
    }

    private static double score(double sum, int count) {
        return sum * sum / (count + LAMBDA);
    }
}
