// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.function.IntUnaryOperator;

/**
 * A function of 32 bits in pieces between powers of two, each a polynomial of degree 2 (WideDynamicFunction in pcan_argc_fixed.cc of
 * TensorFlow Lite Micro).
 *
 * <p>The table begins with the values at 0, 1 and 2. For {@code x} of {@code n} bits, index {@code 4 * n - 6} has the
 * value at the start of the piece, followed by the coefficients of the first and the second degree; the fourth element
 * of a piece is unused. With {@code f} the 10 bits of {@code x} after the highest, the value is {@code begin + round(f
 * * ((second * f >> 5) + first * 32) / 2^15)} as int16.
 */
public final class WideDynamicGain {
    /** Least number of elements of a table. */
    public static final int ELEMENTS = 125;

    /** Elements for each piece, and the offset of the table's start before the pieces of 0 bits. */
    public static final int STRIDE = 4;

    public static final int OFFSET = 6;

    /** Bits of a position in a piece. */
    public static final int POSITION_BITS = 10;

    /** Fraction bits of products, which are rounded off. */
    public static final int FRACTION_BITS = 15;

    private WideDynamicGain() {}

    /**
     * The value at a place.
     *
     * @param x an unsigned number
     * @param table the table's element at an index
     */
    public static int at(int x, IntUnaryOperator table) {
        if (x >= 0 && x <= 2) {
            return table.applyAsInt(x);
        }
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(x);
        int shift = bits - POSITION_BITS - 1;
        int f = (shift < 0 ? x << -shift : x >>> shift) & ((1 << POSITION_BITS) - 1);
        int piece = STRIDE * bits - OFFSET;
        int slope = ((table.applyAsInt(piece + 2) * f) >> 5) + table.applyAsInt(piece + 1) * 32;
        int rise = (slope * f + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
        return (short) (table.applyAsInt(piece) + rise);
    }
}
