// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Limits;
import java.util.Optional;

/**
 * TFLite's quantized sum of two int8 values in the fewest instructions: {@code clamp((x * lhs + y * rhs + offset) >> shift)}.
 * There are 65,536 pairs, so that equality with the reference is not argued but tried: {@link #of} accepts constants only if all pairs
 * give the same result and every step stays within 32 bits.
 *
 * @param lhs factor of the left side
 * @param rhs factor of the right side
 * @param offset zero points and rounding
 * @param shift bits to the right, at least 16
 * @param low least result
 * @param high largest result
 */
public record ProvenSum(int lhs, int rhs, int offset, int shift, int low, int high) {
    private static final int LEAST_SHIFT = 16;
    private static final int MOST_SHIFT = 24;
    /** No sum of two sides is larger: each is a difference of two bytes, shifted by at most 20 bits and scaled by at most 1. */
    private static final int MOST_SUM = 1 << 29;
    /** Factors are tried this far from their exact values. */
    private static final int REACH = 3;

    /** Constants for a fused int8 sum, or nothing where no constants give the reference's results. */
    public static Optional<ProvenSum> of(FusedOperator op) {
        if (!(op.root().op() instanceof QnnAdd add)
                || add.rounding() != Rounding.TFLITE
                || op.requantization().isPresent()
                || op.type().dtype() != DType.INT8) {
            return Optional.empty();
        }
        float[] scales = new float[3];
        int[] zeroPoints = new int[3];
        for (int i = 0; i < 3; i++) {
            scales[i] = op.root().constant(2 + 2 * i).real(0);
            zeroPoints[i] = (int) op.root().constant(3 + 2 * i).integer(0);
        }
        TflAddParameters parameters = TflAddParameters.of(scales[0], scales[1], scales[2]);
        if (!parameters.isBelowOne()) {
            // The reference's left shift wraps, so that its results do not rise with the sum.
            return Optional.empty();
        }
        Limits limits = Limits.of(op);
        int low = (int) limits.low();
        int high = (int) limits.high();
        byte[] results = results(parameters, zeroPoints, low, high);
        double[] exact = {(double) scales[0] / scales[2], (double) scales[1] / scales[2]};
        for (int shift = MOST_SHIFT; shift >= LEAST_SHIFT; shift--) {
            for (int i = 0; i < (2 * REACH + 1) * (2 * REACH + 1); i++) {
                double lhs = Math.rint(Math.scalb(exact[0], shift)) + around(i / (2 * REACH + 1));
                double rhs = Math.rint(Math.scalb(exact[1], shift)) + around(i % (2 * REACH + 1));
                if (lhs > 1 << 24 || rhs > 1 << 24) {
                    break;
                }
                Optional<ProvenSum> found = with((int) lhs, (int) rhs, shift, results, low, high);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /** 0, 1, -1, 2, -2 ... */
    private static int around(int index) {
        return index % 2 == 1 ? index / 2 + 1 : -(index / 2);
    }

    /**
     * The reference's results, by {@code (x + 128) * 256 + y + 128}. They rise with y, so that a row steps through the sums at which
     * the reference reaches each result.
     */
    private static byte[] results(TflAddParameters parameters, int[] zeroPoints, int low, int high) {
        int[] firstSums = new int[high - low];
        for (int i = 0; i < firstSums.length; i++) {
            firstSums[i] = firstSum(parameters, low + 1 + i - zeroPoints[2]);
        }
        byte[] results = new byte[1 << 16];
        for (int x = -128; x < 128; x++) {
            int left = parameters.scaleLhs(x - zeroPoints[0]);
            int steps = 0;
            for (int y = -128; y < 128; y++) {
                int sum = left + parameters.scaleRhs(y - zeroPoints[1]);
                while (steps < firstSums.length && sum >= firstSums[steps]) {
                    steps++;
                }
                results[(x + 128) * 256 + y + 128] = (byte) (low + steps);
            }
        }
        return results;
    }

    /** The least sum of two scaled sides whose result, without its zero point, reaches a value; past all sums if none does. */
    private static int firstSum(TflAddParameters parameters, int value) {
        int below = -MOST_SUM - 1;
        int reached = MOST_SUM + 1;
        while (reached - below > 1) {
            int middle = (below + reached) >> 1;
            if (parameters.scaleOutput(middle) >= value) {
                reached = middle;
            } else {
                below = middle;
            }
        }
        return reached;
    }

    /** Looks for an offset that puts every pair into its step. */
    private static Optional<ProvenSum> with(int lhs, int rhs, int shift, byte[] results, int low, int high) {
        long least = Integer.MIN_VALUE;
        long most = Integer.MAX_VALUE;
        for (int row = 0; row < 256; row++) {
            // Values far apart come first: most constants that do not suit them all fail in the first rows.
            int x = (Integer.reverse(row) >>> 24) - 128;
            for (int y = -128; y < 128; y++) {
                int result = results[(x + 128) * 256 + y + 128];
                long sum = (long) x * lhs + (long) y * rhs;
                if (result > low) {
                    least = Math.max(least, ((long) result << shift) - sum);
                }
                if (result < high) {
                    most = Math.min(most, ((result + 1L) << shift) - 1 - sum);
                }
            }
            if (least > most) {
                return Optional.empty();
            }
        }
        long offset = Math.floorDiv(least + most, 2);
        long largest = 128L * Math.abs(lhs) + 128L * Math.abs(rhs) + Math.abs(offset);
        return largest > Integer.MAX_VALUE
                ? Optional.empty()
                : Optional.of(new ProvenSum(lhs, rhs, (int) offset, shift, low, high));
    }

    /** The sum of two values, as the kernels compute it. */
    public int apply(int x, int y) {
        return FixedPoint.clamp((x * lhs + y * rhs + offset) >> shift, low, high);
    }
}
