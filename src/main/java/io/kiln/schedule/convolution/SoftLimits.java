// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.FusedOperator;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/**
 * The limits of a layer's results as integers in the order of floats: the bits of a float, of which those behind the sign are inverted if it is negative.
 *
 * @param low least integer if there is no limit
 * @param high largest integer if there is none
 */
record SoftLimits(int low, int high) {
    /** The limits of an operator. */
    static SoftLimits of(FusedOperator op) {
        float low = op.clip().map(c -> (float) c.min()).orElse(-Float.MAX_VALUE);
        float high = op.clip().map(c -> (float) c.max()).orElse(Float.MAX_VALUE);
        return new SoftLimits(
                low > -Float.MAX_VALUE ? order(low) : Integer.MIN_VALUE,
                high < Float.MAX_VALUE ? order(high) : Integer.MAX_VALUE);
    }

    private static int order(float value) {
        int bits = Float.floatToIntBits(value + 0f);
        return bits < 0 ? bits ^ Integer.MAX_VALUE : bits;
    }

    /** The kernels' last arguments. */
    List<Expr> arguments() {
        return List.of(Exprs.imm(low), Exprs.imm(high));
    }
}
