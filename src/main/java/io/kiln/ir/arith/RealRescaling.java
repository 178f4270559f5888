// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/** The rescaling of sums that a kernel does with floats. Results never fall as sums grow. */
public sealed interface RealRescaling permits RealBias, RealScale {
    /** Results that saturate whatever the zero point is. */
    double MOST = 1 << 30;

    /** The result for a sum before the zero point, limited to 2^30. */
    long rescale(long sum);

    /** The step of the result for each step of the sum. */
    double slope();

    /** The exact result for the sum 0. */
    double offset();

    /** A result limited to 2^30. */
    static double limited(double result) {
        return Math.max(-MOST, Math.min(MOST, result));
    }
}
