// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/**
 * The square root of an unsigned integer: rounded to nearest as {@code tfl.signal} has it (square_root_64.cc and square_root_32.cc of
 * TensorFlow Lite Micro; for arguments below 2^32 at most 65535, otherwise at most 2^32 - 1), or rounded down as preprocessing has it.
 */
public final class SquareRoot {
    private static final long HIGHEST = 1L << 62;

    private SquareRoot() {}

    /** The root of 64 bits rounded to nearest, as the 32 bits of an unsigned number. */
    public static int of(long value) {
        long root = floor(value);
        // Above root^2 + root the value is nearer to the next root.
        long largest = value >>> Integer.SIZE == 0 ? 0xFFFF : 0xFFFFFFFFL;
        return (int) (value - root * root > root && root != largest ? root + 1 : root);
    }

    /** The largest number whose square is not above an unsigned one of 64 bits: 0 to 2^32 - 1. */
    public static long floor(long value) {
        long rest = value;
        long root = 0;
        for (long bit = HIGHEST; bit != 0; bit >>>= 2) {
            if (Long.compareUnsigned(rest, root + bit) >= 0) {
                rest -= root + bit;
                root = (root >>> 1) + bit;
            } else {
                root >>>= 1;
            }
        }
        return root;
    }
}
