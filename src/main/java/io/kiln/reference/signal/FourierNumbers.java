// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.signal;

import io.kiln.ir.arith.FourierRoots;

/**
 * The arithmetic of a Fourier transform: floats, or fractions of 15 or 31 bits in int16 or int32.
 *
 * @param <N> type of numbers
 */
interface FourierNumbers<N> {
    /** A number from -1 to 1. */
    N of(double value);

    /** {@code a * b + c * d}; fractions are rounded once. */
    N products(N a, N b, N c, N d);

    /** An input of a pass; a fraction is divided by the pass's radix. */
    N part(N value, int radix);

    N sum(N a, N b);

    N negative(N value);

    /** Half of a sum; the sum wraps around in 32 bits only. */
    N halfSum(N a, N b);

    /** Half of a difference, with the same wrapping. */
    N halfDifference(N a, N b);

    default N difference(N a, N b) {
        return sum(a, negative(b));
    }

    /**
     * Fractions as integers; a sum of two products of 31 bits fits into 64.
     *
     * @param bits fraction bits, 15 or 31; sums wrap around in 16 or 32 bits
     */
    record Fractions(int bits) implements FourierNumbers<Long> {
        private long largest() {
            return (1L << bits) - 1;
        }

        @Override
        public Long of(double value) {
            return (long) FourierRoots.fraction(value, bits);
        }

        @Override
        public Long products(Long a, Long b, Long c, Long d) {
            return wrapped((a * b + c * d + (1L << (bits - 1))) >> bits);
        }

        @Override
        public Long part(Long value, int radix) {
            return products(value, largest() / radix, 0L, 0L);
        }

        @Override
        public Long sum(Long a, Long b) {
            return wrapped(a + b);
        }

        @Override
        public Long negative(Long value) {
            return wrapped(-value);
        }

        @Override
        public Long halfSum(Long a, Long b) {
            return (long) ((int) (a + b) >> 1);
        }

        @Override
        public Long halfDifference(Long a, Long b) {
            return (long) ((int) (a - b) >> 1);
        }

        private long wrapped(long value) {
            return bits == Short.SIZE - 1 ? (short) value : (int) value;
        }
    }

    /** Floats; each operation is rounded. */
    record Floats() implements FourierNumbers<Float> {
        @Override
        public Float of(double value) {
            return (float) value;
        }

        @Override
        public Float products(Float a, Float b, Float c, Float d) {
            return a * b + c * d;
        }

        @Override
        public Float part(Float value, int radix) {
            return value;
        }

        @Override
        public Float sum(Float a, Float b) {
            return a + b;
        }

        @Override
        public Float negative(Float value) {
            return -value;
        }

        @Override
        public Float halfSum(Float a, Float b) {
            return (a + b) / 2;
        }

        @Override
        public Float halfDifference(Float a, Float b) {
            return (a - b) / 2;
        }
    }
}
