// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.core;

/**
 * A number of cycles that is not known exactly.
 *
 * @param low the least it can be
 * @param expected what is most likely
 * @param high the most it can be
 */
public record CycleRange(long low, long expected, long high) {
    /** No cycles. */
    public static final CycleRange NONE = exactly(0);

    /** Which number of a range is meant. */
    public enum Bound {
        LOW,
        EXPECTED,
        HIGH
    }

    public CycleRange {
        if (low > expected || expected > high) {
            throw new IllegalArgumentException("no range: " + low + ", " + expected + ", " + high);
        }
    }

    /** A number that is known. */
    public static CycleRange exactly(long cycles) {
        return new CycleRange(cycles, cycles, cycles);
    }

    /** One of the numbers. */
    public long at(Bound bound) {
        return switch (bound) {
            case LOW -> low;
            case EXPECTED -> expected;
            case HIGH -> high;
        };
    }

    /** The sum. */
    public CycleRange plus(CycleRange other) {
        return new CycleRange(low + other.low, expected + other.expected, high + other.high);
    }

    /** The product with a count. */
    public CycleRange times(long factor) {
        return new CycleRange(low * factor, expected * factor, high * factor);
    }
}
