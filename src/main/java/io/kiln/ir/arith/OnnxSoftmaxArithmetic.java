// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.Arrays;

/**
 * Softmax in single precision as ONNX Runtime computes it on x86-64: exponentials by a polynomial (MlasComputeSumExpF32Kernel in
 * core/mlas/lib/compute.cpp), summed in 16 lanes, and multiplied by the reciprocal of the sum. For up to 16 elements its kernels for AVX2 and AVX-512 sum in one
 * order; for more, this is that of AVX-512.
 */
public final class OnnxSoftmaxArithmetic {
    /** Sums that are kept side by side. */
    public static final int LANES = 16;

    private static final float LOWEST = -103.97208f;
    private static final float ROUNDING = 12582912f;
    private static final float LOG2_E = 0x1.715476p0f;
    private static final float LN2_HIGH = 0x1.62e4p-1f;
    private static final float LN2_LOW = 0x1.7f7d1cp-20f;
    private static final float FIRST = 0x1.694p-10f;
    private static final float[] COEFFICIENTS = {0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.55545p-3f, 0x1.fffff6p-2f, 1, 1};

    /** Natural logarithm of the room that {@link #table} leaves between the largest sum of exponentials and the largest float. */
    private static final int RESERVED = 5;

    private OnnxSoftmaxArithmetic() {}

    /**
     * The exponential of a number.
     *
     * @param x at most 0
     */
    public static float exponential(float x) {
        float limited = Math.max(x, LOWEST);
        float power = Math.fma(limited, LOG2_E, ROUNDING) - ROUNDING;
        float rest = Math.fma(power, -LN2_LOW, Math.fma(power, -LN2_HIGH, limited));
        float result = FIRST;
        for (float coefficient : COEFFICIENTS) {
            result = Math.fma(result, rest, coefficient);
        }
        return Math.scalb(result, (int) power);
    }

    /** The sum of exponentials, in the order of the lanes. */
    public static float sum(float[] exponentials) {
        float[] lanes = new float[LANES];
        for (int i = 0; i < exponentials.length; i++) {
            lanes[i % LANES] += exponentials[i];
        }
        for (int i = 0; i < LANES / 2; i++) {
            lanes[i] += lanes[i + LANES / 2];
        }
        for (int count = LANES / 4; count > 0; count /= 2) {
            for (int i = 0; i < count; i++) {
                lanes[i] = lanes[2 * i] + lanes[2 * i + 1];
            }
        }
        return lanes[0];
    }

    /**
     * The exponentials that {@code QLinearSoftmax} looks up by the distance to the largest element, scaled so that their sum is finite;
     * the largest one is the last (contrib_ops/cpu/quantization/qlinear_softmax.cc).
     *
     * @param scale of the elements
     * @param count elements of a sum
     */
    public static float[] table(float scale, int count) {
        double shift = Math.max(0, Math.log(Float.MAX_VALUE / (float) count) - RESERVED) / scale;
        float[] table = new float[Byte.MAX_VALUE - Byte.MIN_VALUE + 1];
        for (int i = 0; i < table.length; i++) {
            table[i] = (float) Math.exp((i - (table.length - 1) + shift) * scale);
        }
        return table;
    }

    /** The factor of {@code QLinearSoftmax}'s exponentials: steps of the result up to 1. */
    public static float factor(float scale) {
        return (float) Math.floor(1f / scale);
    }

    /** Whether exponentials times the factor are finite, as far as {@link #table} leaves room. */
    public static boolean isFinite(float scale, int count) {
        return factor(scale) < count * Math.exp(RESERVED);
    }

    /**
     * The smallest probability that is rounded to each number of steps from 1 on, as bits of floats, ascending.
     *
     * @param scale of the result
     * @param most the largest number of steps
     */
    public static int[] thresholds(float scale, int most) {
        int[] thresholds = new int[most];
        Arrays.setAll(thresholds, i -> threshold(scale, i + 1));
        return thresholds;
    }

    /** A binary search over bits: positive floats are ordered like their bits. */
    private static int threshold(float scale, int steps) {
        int below = 0;
        int from = Float.floatToIntBits(Float.POSITIVE_INFINITY);
        while (from - below > 1) {
            int middle = (below + from) >>> 1;
            if (Math.rint(Float.intBitsToFloat(middle) / scale) < steps) {
                below = middle;
            } else {
                from = middle;
            }
        }
        return from;
    }
}
