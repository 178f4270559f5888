// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.ArrayList;
import java.util.List;

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
     * Fits trees until what they do not explain is small.
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
}
