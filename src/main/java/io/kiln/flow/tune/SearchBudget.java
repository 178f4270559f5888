// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * The time that a search may take, from its making on. Nothing is begun that is not expected to end in time, and what the comparison of the whole
 * models takes at the end is set aside.
 */
final class SearchBudget {
    /** Images of the whole models at the end: one with all records, one without those that were withdrawn. */
    private static final int IMAGES_AT_THE_END = 2;

    /** What takes a second may take this number of seconds the next time. */
    private static final double SPARE = 1.3;

    private final Clock clock;
    private final Duration limit;
    private final Instant began;
    private Duration image = Duration.ZERO;
    private double secondsEach;

    /** @param limit zero for no limit */
    SearchBudget(Clock clock, Duration limit) {
        this.clock = clock;
        this.limit = limit;
        this.began = clock.instant();
    }

    Instant now() {
        return clock.instant();
    }

    Duration spent() {
        return Duration.between(began, now());
    }

    boolean isLimited() {
        return !limit.isZero();
    }

    /** Seconds until the end, not below 0. */
    private double left() {
        return Math.max(0, limit.minus(spent()).toMillis() / 1000.0);
    }

    /** Notes that the first image of the whole models was built and measured since the search began. */
    void imageTook() {
        image = spent();
    }

    /** Notes what a round took. */
    void took(int candidates, Duration time) {
        secondsEach = time.toMillis() / 1000.0 / candidates;
    }

    /** Whether another image of the whole models ends in time. */
    boolean allowsImage() {
        return !isLimited() || SPARE * seconds(image) <= left();
    }

    /** Whether another image ends in time, with the images at the end after it. */
    boolean allowsTrial() {
        return !isLimited() || SPARE * 2 * seconds(image) <= left();
    }

    /**
     * The most candidates of the next round.
     *
     * @param most without a limit of time
     * @return 0 if there is time for the images at the end only
     */
    int candidates(int most) {
        if (!isLimited()) {
            return most;
        }
        double free = left() - SPARE * IMAGES_AT_THE_END * seconds(image);
        if (free <= 0) {
            return 0;
        }
        return secondsEach == 0 ? most : (int) Math.min(most, free / (SPARE * secondsEach));
    }

    /** Seconds that are expected until the end of the search. */
    long rest(int candidates) {
        double rest = candidates * secondsEach + IMAGES_AT_THE_END * seconds(image);
        return Math.round(isLimited() ? Math.min(rest, left()) : rest);
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1000.0;
    }
}
