// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.List;

/**
 * Scales that TensorFlow Lite's library takes for powers of two (CheckedLog2 in quantization_util.cc). If all three scales of an ADD or SUB of
 * int16 are, it shifts operands in place of multiplying them, and refuses two operands that both have to be shifted (add.cc, sub.cc).
 */
public final class TflPowerScales {
    /** The library compares with 1e-3 in single precision. */
    private static final double NEAR = 1.1e-3;

    private TflPowerScales() {}

    /** Whether all scales lie within 0.1 % of an octave of a power of two. */
    public static boolean areAll(List<Float> scales) {
        return scales.stream().allMatch(TflPowerScales::isOne);
    }

    private static boolean isOne(float scale) {
        double log = Math.log(scale) / Math.log(2);
        return Math.abs(log - Math.rint(log)) < NEAR;
    }
}
