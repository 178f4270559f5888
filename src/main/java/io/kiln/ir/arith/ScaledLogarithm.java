// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/**
 * The natural logarithm of a whole number times a scale (log.cc of TensorFlow Lite Micro). The logarithm to base 2 with 16 fraction bits
 * comes first: the number of bits, the bits behind the highest as {@code f}, and the difference {@code log2(1 + f) - f}, from a table of
 * 128 segments. Between the table's entries the difference counts by the position in the segment, shifted by 16 and not by 9, so
 * that little of it is left; this is how the original computes.
 */
public final class ScaledLogarithm {
    /** Fraction bits. */
    public static final int BITS = 16;

    /** Bits of a position in a segment. */
    public static final int POSITION_BITS = 9;

    /** {@code ln(2)} with the fraction bits. */
    public static final int LN_2 = 45426;

    private static final int SEGMENTS = 1 << (BITS - POSITION_BITS);

    private ScaledLogarithm() {}

    /** {@code log2(1 + f) - f} with the fraction bits, rounded, at the segments' ends. */
    public static int[] table() {
        int[] table = new int[SEGMENTS + 1];
        for (int i = 0; i <= SEGMENTS; i++) {
            double fraction = (double) i / SEGMENTS;
            double above = StrictMath.log1p(fraction) / StrictMath.log(2) - fraction;
            table[i] = (int) Math.round(above * (1 << BITS));
        }
        return table;
    }

    /** {@code log2(1 + f)} with the fraction bits, rounded, at the segments' ends: {@link #table} and the line {@code f}. */
    public static int[] wholeTable() {
        int[] table = table();
        for (int i = 0; i <= SEGMENTS; i++) {
            table[i] += i << POSITION_BITS;
        }
        return table;
    }

    /**
     * The scaled logarithm as an unsigned number of 32 bits.
     *
     * @param x an unsigned number, not 0
     * @param scale factor of the logarithm
     * @param table {@link #table}
     */
    public static int of(int x, int scale, int... table) {
        int whole = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(x);
        int f = (whole < BITS ? x << (BITS - whole) : x >>> (whole - BITS)) - (1 << BITS);
        int segment = f >> POSITION_BITS;
        int position = f & ((1 << POSITION_BITS) - 1);
        int between = ((table[segment + 1] - table[segment]) * position) >> BITS;
        int log2 = (whole << BITS) + f + table[segment] + between;
        int half = 1 << (BITS - 1);
        int natural = (int) (((long) log2 * LN_2 + half) >>> BITS);
        return (natural * scale + half) >>> BITS;
    }
}
