// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Rounding;
import java.util.Optional;
import java.util.function.LongToIntFunction;

/** Finds where a requantization, a monotone function of the accumulator, steps from one result to the next. */
final class RequantizeSteps {
    private RequantizeSteps() {}

    /**
     * For each value above the lowest, the first accumulator at which the reference reaches it; one past the bound if none does.
     *
     * @param bound largest magnitude of the accumulator, without the bias
     */
    static long[] of(ProvenRequantize.Reference reference, int channel, long bound) {
        long offset = reference.offset(channel);
        Optional<RequantizeInverse> inverse =
                RequantizeInverse.of(reference.requantization(), channel, bound + Math.abs(offset));
        if (inverse.isEmpty()) {
            return searched(reference, channel, bound);
        }
        int first = reference.low() + 1 - reference.requantization().outputZeroPoint();
        long[] steps = new long[Math.max(0, reference.high() - reference.low())];
        for (int i = 0; i < steps.length; i++) {
            long step = inverse.get().firstAtLeast(first + i) - offset;
            steps[i] = Math.max(-bound, Math.min(bound + 1, step));
        }
        return steps;
    }

    /** Finds the same steps by search, from the reference's results alone, for any monotone reference. Steps are about equally wide. */
    static long[] searched(ProvenRequantize.Reference reference, int channel, long bound) {
        LongToIntFunction results = reference.results(channel);
        long[] steps = new long[Math.max(0, reference.high() - reference.low())];
        long last = -bound;
        long width = 1;
        for (int i = 0; i < steps.length; i++) {
            steps[i] = firstAtLeast(results, bound, reference.low() + 1 + i, last, last + width);
            width = steps[i] - last;
            last = steps[i];
        }
        return steps;
    }

    /**
     * First accumulator for which the reference reaches a value; one past the bound if none does.
     *
     * @param from no accumulator below it reaches the value
     * @param guess start of the search
     */
    private static long firstAtLeast(LongToIntFunction results, long bound, int value, long from, long guess) {
        long below = from - 1;
        long reached = bound + 1;
        long probe = Math.max(from, Math.min(bound, guess));
        for (long reach = 1; reached - below > 1; reach *= 2) {
            boolean isReached = results.applyAsInt(probe) >= value;
            if (isReached) {
                reached = probe;
            } else {
                below = probe;
            }
            boolean isBetweenProbes = below >= from && reached <= bound;
            probe = isBetweenProbes
                    ? Math.floorDiv(below + reached, 2)
                    : isReached ? Math.max(from, probe - reach) : Math.min(bound, probe + reach);
        }
        return reached;
    }

    /**
     * Finds where a channel's requantization in integers ({@link FixedPoint}) reaches a value, by solving its formula for the
     * accumulator. A rescaling in single precision has no such inverse.
     *
     * @param multiplier 1 to 2^31 - 1
     * @param shift power of two, positive to the left, -31 to 30
     */
    record RequantizeInverse(Rounding rounding, int multiplier, int shift) {
        /** Bound of the product of any accumulator and multiplier. */
        private static final long MOST_PRODUCT = 1L << 62;

        /**
         * The inverse for accumulators up to a magnitude.
         *
         * @return empty if there is none, or the reference's 32 bits could wrap
         */
        static Optional<RequantizeInverse> of(Requantization requantization, int channel, long magnitude) {
            int multiplier = requantization.multiplier(channel);
            int shift = requantization.shift(channel);
            boolean isInteger = switch (requantization.rounding()) {
                case TFLITE, UPWARD, TONEAREST -> true;
                case ONNX, TRUNCATE -> false;
            };
            return isInteger && multiplier > 0 && magnitude <= Integer.MAX_VALUE >> Math.max(0, shift)
                    ? Optional.of(new RequantizeInverse(requantization.rounding(), multiplier, shift))
                    : Optional.empty();
        }

        /** The least accumulator whose result, before zero point and limits, is at least a value; beyond 32 bits if none is. */
        long firstAtLeast(int value) {
            if (rounding == Rounding.TFLITE) {
                // The high multiply is floor((x * 2^left * multiplier + 2^30) / 2^31).
                long high =
                        Math.max(Integer.MIN_VALUE, Math.min(1L << 31, firstRounded(value, Math.max(0, -shift), true)));
                long scaled = ceilDiv((high << 31) - (1L << 30), multiplier);
                int left = Math.max(0, shift);
                return -(-scaled >> left);
            }
            return ceilDiv(firstRounded(value, 31 - shift, rounding == Rounding.TONEAREST), multiplier);
        }

        /**
         * The least number that, divided by a power of two and rounded, is at least a value.
         *
         * @param away whether negative halves are rounded down as positive ones are rounded up
         */
        private static long firstRounded(long value, int bits, boolean away) {
            if (bits == 0) {
                return value;
            }
            if (Math.abs(value) > MOST_PRODUCT >> bits) {
                return value < 0 ? -MOST_PRODUCT : MOST_PRODUCT;
            }
            return (value << bits) - (1L << (bits - 1)) + (away && value <= 0 ? 1 : 0);
        }

        /** The quotient rounded up. */
        private static long ceilDiv(long dividend, int divisor) {
            return -Math.floorDiv(-dividend, (long) divisor);
        }
    }
}
