// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Gradient-boosted regression trees with squared error, with AutoTVM's parameters of XGBoost: trees of depth 3, a learning rate of 0.3.
 *
 * <p>It is our own because no library fits: XGBoost4J, and Tribuo's boosting on top of it, bring native code for few systems; Smile and
 * Weka are under the GPL. Without random numbers in it, and with sums in a fixed order, equal samples give equal trees on every computer.
 */
final class BoostedTrees {
    private static final double RATE = 0.3;
    private static final int MOST_ROUNDS = 300;
    private static final double SMALL = 1e-4;

    private final double base;
    private final List<RegressionTree> trees = new ArrayList<>();

    private BoostedTrees(double base) {
        this.base = base;
    }

    /**
     * Fits trees until their residuals are small.
     *
     * @param x features of the samples, at least one
     * @param y what is to be predicted
     */
    static BoostedTrees fit(double[][] x, double[] y) {
        double mean = 0;
        for (double value : y) {
            mean += value / y.length;
        }
        BoostedTrees model = new BoostedTrees(mean);
        double[] residuals = new double[y.length];
        for (int i = 0; i < y.length; i++) {
            residuals[i] = y[i] - mean;
        }
        for (int round = 0; round < MOST_ROUNDS && largest(residuals) > SMALL; round++) {
            RegressionTree tree = RegressionTree.grow(x, residuals);
            model.trees.add(tree);
            for (int i = 0; i < y.length; i++) {
                residuals[i] -= RATE * tree.predict(x[i]);
            }
        }
        return model;
    }

    private static double largest(double[] residuals) {
        double largest = 0;
        for (double residual : residuals) {
            largest = Math.max(largest, Math.abs(residual));
        }
        return largest;
    }

    /** The prediction for a vector of features. */
    double predict(double[] features) {
        double sum = base;
        for (RegressionTree tree : trees) {
            sum += RATE * tree.predict(features);
        }
        return sum;
    }

    /**
     * A regression tree of gradient boosting with squared error. A leaf answers the sum of its residuals over their number plus
     * {@link #LAMBDA}; a split gains what XGBoost's structure score gains (Chen and Guestrin, 2016, equation 7).
     */
    private sealed interface RegressionTree {
        int MOST_DEPTH = 3;

        /** Regularisation of leaves. */
        double LAMBDA = 1;

        /** The least gain of a split. */
        double GAMMA = 1e-4;

        /** The prediction for a vector of features. */
        double predict(double[] features);

        /** A leaf of the tree with its prediction. */
        record Leaf(double value) implements RegressionTree {
            @Override
            public double predict(double[] features) {
                return value;
            }
        }

        /** An inner node, which asks whether a feature is less than a threshold. */
        record Split(int feature, double threshold, RegressionTree less, RegressionTree more)
                implements RegressionTree {
            @Override
            public double predict(double[] features) {
                return features[feature] < threshold ? less.predict(features) : more.predict(features);
            }
        }

        /** The best place for a split so far. */
        record Cut(double gain, int feature, double threshold) {}

        /**
         * Fits a tree to residuals.
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
                    cut.feature,
                    cut.threshold,
                    grow(x, residuals, less, depth - 1),
                    grow(x, residuals, more, depth - 1));
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
}
