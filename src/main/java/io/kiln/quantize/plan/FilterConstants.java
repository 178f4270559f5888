// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.range.ValueRange;

/**
 * The constants of a singular value decomposition filter in integers (TensorFlow Lite, operator_property.cc and quantize_model.cc): weights
 * of features int8 with 127 steps, weights of time int16 with 512, so that sums of their products with a state of int16 fit 32 bits.
 *
 * @param features int8, zero point 0
 * @param times int16, zero point 0
 * @param bias int32 with scale {@code time * state} and zero point 0
 * @param scales of the constants and the state
 */
public record FilterConstants(Constant features, Constant times, Constant bias, Scales scales) {
    /**
     * Scales.
     *
     * @param state of the state, int16, whose zero point is 0
     */
    public record Scales(float features, float times, float state) {}

    private static final int FEATURE_STEPS = 127;
    private static final int TIME_STEPS = 512;

    /** Products of a state and a weight of time whose sum, with the bias, fits 32 bits: 6 bits are left beside those of both. */
    private static final int MOST_PRODUCTS = 63;

    private static final int BIAS = 3;
    private static final float NO_WEIGHTS = 1e-6f;

    /** Whether the filter's constants are known, and its sums of integers fit 32 bits. */
    static boolean isPossible(Svdf op, Node node, int mostInputs) {
        return node.args().subList(1, BIAS + 1).stream().allMatch(Constant.class::isInstance)
                && op.rank() * node.argTypes().get(2).shape().dim(1) <= MOST_PRODUCTS
                && node.argTypes().get(1).shape().dim(1) <= mostInputs;
    }

    /** The variable that holds the state. */
    static int state(Node node) {
        return ((Arg.Ref) node.args().get(Svdf.STATE)).id();
    }

    /**
     * Quantizes the constants.
     *
     * @param state range of the state
     */
    static FilterConstants of(Node node, ValueRange state) {
        Constant features = (Constant) node.args().get(1);
        Constant times = (Constant) node.args().get(2);
        Constant bias = (Constant) node.args().get(BIAS);
        float stateScale = scale(state.withZero().magnitude(), Short.MAX_VALUE);
        float mostFeature = largest(features);
        float most = largest(bias);
        float mostTime = Math.max(largest(times), 2 * most / Integer.MAX_VALUE * TIME_STEPS / stateScale);
        Scales scales = new Scales(scale(mostFeature, FEATURE_STEPS), scale(mostTime, TIME_STEPS), stateScale);
        double biasScale = (double) scales.times * stateScale;
        return new FilterConstants(
                integers(features, DType.INT8, FEATURE_STEPS, mostFeature),
                integers(times, DType.INT16, TIME_STEPS, mostTime),
                QuantizedConstants.limited(
                        bias, DType.INT32, -Integer.MAX_VALUE, Integer.MAX_VALUE, i -> bias.real(i) / biasScale),
                scales);
    }

    private static Constant integers(Constant weights, DType dtype, int steps, float most) {
        float inverse = most == 0 ? 0 : steps / most;
        return QuantizedConstants.limited(weights, dtype, -steps, steps, i -> weights.real(i) * inverse);
    }

    private static float scale(float most, int steps) {
        return most == 0 ? NO_WEIGHTS : Math.max(most / steps, Float.MIN_NORMAL);
    }

    private static float largest(Constant constant) {
        return ValueRange.of(ScaleGroups.floats(constant)).magnitude();
    }
}
