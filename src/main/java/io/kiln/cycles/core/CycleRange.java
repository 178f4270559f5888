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

    /** A range of one number, which is known exactly. */
    public static CycleRange exactly(long cycles) {
        return new CycleRange(cycles, cycles, cycles);
    }

    public long at(Bound bound) {
        return switch (bound) {
            case LOW -> low;
            case EXPECTED -> expected;
            case HIGH -> high;
        };
    }

    /** The sum of this range and another, bound by bound. */
    public CycleRange plus(CycleRange other) {
        return new CycleRange(low + other.low, expected + other.expected, high + other.high);
    }

    /** This range times a count, bound by bound. */
    public CycleRange times(long factor) {
        return new CycleRange(low * factor, expected * factor, high * factor);
    }
}
