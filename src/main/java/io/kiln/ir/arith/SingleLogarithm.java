// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/**
 * The natural logarithm of glibc since 2.28 ({@code logf}, sysdeps/ieee754/flt-32/e_logf.c, from Arm's optimized routines), which ONNX
 * Runtime calls: in double precision, rounded once. With {@code x = 2^k * z} and c near z it is {@code log1p(z / c - 1) + log(c) + k * ln2},
 * with a polynomial for the first term.
 */
public final class SingleLogarithm {
    /** Largest argument up to which the fixed point of generated C gives the same floats, for all of which SingleLogarithmTest holds it. */
    public static final float MOST = 65536;

    /** Bits of the float from which on z is counted. */
    private static final int BEGIN = 0x3f330000;

    private static final int FRACTION_BITS = 23;
    private static final int INDEX_BITS = 4;
    private static final double LN2 = 0x1.62e42fefa39efp-1;
    private static final double CUBIC = 0x1.5575b0be00b6ap-2;
    private static final double SQUARE = -0x1.ffffef20a4123p-2;
    private static final double FOURTH = -0x1.00ea348b88334p-2;

    /** 1 / c and log(c) for each interval of z. */
    private static final double[][] CENTRES = {
        {0x1.661ec79f8f3bep+0, -0x1.57bf7808caadep-2},
        {0x1.571ed4aaf883dp+0, -0x1.2bef0a7c06ddbp-2},
        {0x1.49539f0f010bp+0, -0x1.01eae7f513a67p-2},
        {0x1.3c995b0b80385p+0, -0x1.b31d8a68224e9p-3},
        {0x1.30d190c8864a5p+0, -0x1.6574f0ac07758p-3},
        {0x1.25e227b0b8eap+0, -0x1.1aa2bc79c81p-3},
        {0x1.1bb4a4a1a343fp+0, -0x1.a4e76ce8c0e5ep-4},
        {0x1.12358f08ae5bap+0, -0x1.1973c5a611cccp-4},
        {0x1.0953f419900a7p+0, -0x1.252f438e10c1ep-5},
        {0x1p+0, 0x0p+0},
        {0x1.e608cfd9a47acp-1, 0x1.aa5aa5df25984p-5},
        {0x1.ca4b31f026aap-1, 0x1.c5e53aa362eb4p-4},
        {0x1.b2036576afce6p-1, 0x1.526e57720db08p-3},
        {0x1.9c2d163a1aa2dp-1, 0x1.bc2860d22477p-3},
        {0x1.886e6037841edp-1, 0x1.1058bc8a07ee1p-2},
        {0x1.767dcf5534862p-1, 0x1.4043057b6ee09p-2},
    };

    private SingleLogarithm() {}

    /**
     * The logarithm of a number.
     *
     * @param x positive, normal and finite
     */
    public static float of(float x) {
        int above = Float.floatToIntBits(x) - BEGIN;
        double[] centre = CENTRES[above >> (FRACTION_BITS - INDEX_BITS) & ((1 << INDEX_BITS) - 1)];
        int power = above >> FRACTION_BITS;
        double z = Math.scalb(x, -power);
        double rest = Math.fma(z, centre[0], -1);
        double square = rest * rest;
        double polynomial = Math.fma(FOURTH, square, Math.fma(CUBIC, rest, SQUARE));
        return (float) Math.fma(polynomial, square, Math.fma(power, LN2, centre[1]) + rest);
    }
}
