// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.Optional;

/**
 * A sum of int8 as its quantized mean, in integers: {@code limit((sum * multiplier + bias) >> shift)}, for every possible sum equal to
 * what the reference kernel's floats give ({@link #mean}). That function only grows with the sum, so it is known by the sums at which it
 * grows, and these are checked one by one.
 */
public record MeanRescale(long multiplier, long bias, int shift) {
    private static final int NEIGHBOURS = 64;
    private static final int MOST_SHIFT = 40;

    /** The reference kernel's result for a sum, step by step in single precision. */
    public static int mean(int sum, int count, float inScale, int inZero, float outScale, int outZero) {
        float scale = inScale / outScale;
        float bias = -inZero * scale;
        float real = (float) sum / (float) count;
        float scaled = real * scale + bias;
        double rounded = scaled < 0 ? -Math.floor(-(double) scaled + 0.5) : Math.floor((double) scaled + 0.5);
        float result = Math.min((float) rounded + outZero, Byte.MAX_VALUE);
        return (int) Math.max(result, Byte.MIN_VALUE);
    }

    /** The integers for a quantization; empty in the rare case that none do. */
    public static Optional<MeanRescale> of(int count, float inScale, int inZero, float outScale, int outZero) {
        long[] firsts = new long[Byte.MAX_VALUE - Byte.MIN_VALUE];
        for (int i = 0; i < firsts.length; i++) {
            firsts[i] = first(Byte.MIN_VALUE + 1 + i, count, inScale, inZero, outScale, outZero);
        }
        double exact = (double) inScale / outScale / count;
        int shift = Math.max(0, Math.min(MOST_SHIFT, 40 - Math.getExponent(exact)));
        long near = Math.round(exact * Math.pow(2, shift));
        for (int i = 0; i <= 2 * NEIGHBOURS; i++) {
            long multiplier = near + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
            Optional<MeanRescale> found = with(multiplier, shift, firsts, count);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** The smallest sum of which the mean is at least a value; one above the largest sum if there is none. */
    private static long first(int value, int count, float inScale, int inZero, float outScale, int outZero) {
        int low = Byte.MIN_VALUE * count;
        int high = Byte.MAX_VALUE * count + 1;
        while (low < high) {
            int middle = Math.floorDiv(low + high, 2);
            if (mean(middle, count, inScale, inZero, outScale, outZero) >= value) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** The bias that reaches each value exactly at its first sum, if there is one. */
    private static Optional<MeanRescale> with(long multiplier, int shift, long[] firsts, int count) {
        if (multiplier <= 0) {
            return Optional.empty();
        }
        long least = Long.MIN_VALUE;
        long most = Long.MAX_VALUE;
        for (int i = 0; i < firsts.length; i++) {
            long value = (long) (Byte.MIN_VALUE + 1 + i) << shift;
            if (firsts[i] <= (long) Byte.MAX_VALUE * count) {
                least = Math.max(least, value - firsts[i] * multiplier);
            }
            if (firsts[i] > (long) Byte.MIN_VALUE * count) {
                most = Math.min(most, value - (firsts[i] - 1) * multiplier - 1);
            }
        }
        boolean found = least <= most;
        long bias = least == Long.MIN_VALUE ? most : most == Long.MAX_VALUE ? least : least + (most - least) / 2;
        return found ? Optional.of(new MeanRescale(multiplier, bias, shift)) : Optional.empty();
    }
}
