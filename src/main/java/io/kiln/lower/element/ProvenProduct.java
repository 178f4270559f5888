// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import io.kiln.ir.op.element.PairLookup;
import java.util.Optional;

/**
 * The rounded product of two bytes as {@code (x * y * multiplier + offset) >> shift} in 64 bits, where x and y are less their zero
 * points; accepted only if all pairs give the same result.
 *
 * @param multiplier below 2^31
 * @param offset zero point and rounding
 * @param shift bits to the right
 */
record ProvenProduct(int multiplier, long offset, int shift) {
    private static final int MOST_SHIFT = 40;
    private static final int REACH = 64;

    /**
     * Constants for a table.
     *
     * @param results by {@code (x + 128) * 256 + y + 128}
     */
    static Optional<ProvenProduct> of(byte[] results, PairLookup op) {
        int shift = Math.min(MOST_SHIFT, 30 - Math.getExponent(op.lhs()));
        if (op.lhs() <= 0 || shift < 1) {
            return Optional.empty();
        }
        long exact = Math.round(Math.scalb(op.lhs(), shift));
        for (int i = 0; i <= 2 * REACH; i++) {
            long multiplier = exact + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
            if (multiplier > 0 && multiplier <= Integer.MAX_VALUE) {
                Optional<ProvenProduct> found = of(results, op, (int) multiplier, shift);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    private static Optional<ProvenProduct> of(byte[] results, PairLookup op, int multiplier, int shift) {
        long least = Long.MIN_VALUE;
        long most = Long.MAX_VALUE;
        for (int pair = 0; pair < results.length && least <= most; pair++) {
            int x = (pair >> 8) + Byte.MIN_VALUE - op.lhsZeroPoint();
            int y = (pair & 255) + Byte.MIN_VALUE - op.rhsZeroPoint();
            long product = (long) x * y * multiplier;
            int result = results[pair];
            least = result > Byte.MIN_VALUE ? Math.max(least, ((long) result << shift) - product) : least;
            most = result < Byte.MAX_VALUE ? Math.min(most, ((result + 1L) << shift) - 1 - product) : most;
        }
        return least <= most && least > -(1L << 60) && most < 1L << 60
                ? Optional.of(new ProvenProduct(multiplier, Math.floorDiv(least + most, 2), shift))
                : Optional.empty();
    }
}
