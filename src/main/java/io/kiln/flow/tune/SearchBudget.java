// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * The time that a search may take, from its making on. Nothing is begun that is not expected to end in time, and what the comparison of the whole
 * models takes at the end is set aside.
 */
final class SearchBudget {
    /** Images of the whole models that are measured at the end: one with all records, one without those that were withdrawn. */
    private static final int IMAGES_AT_THE_END = 2;

    /** The factor by which something may take longer the next time. */
    private static final double SPARE = 1.3;

    private final Clock clock;
    private final Duration limit;
    private final Instant began;
    private double image;
    private final List<Round> rounds = new ArrayList<>();

    private record Round(int candidates, double seconds) {}

    /** What a round takes: a share for the image, and one for each candidate in it. */
    private record Rate(double image, double each) {
        double seconds(int candidates) {
            return candidates == 0 ? 0 : image + candidates * each;
        }
    }

    /** @param limit zero for no limit */
    SearchBudget(Clock clock, Duration limit) {
        this.clock = clock;
        this.limit = limit;
        this.began = clock.instant();
    }

    Instant now() {
        return clock.instant();
    }

    private boolean isLimited() {
        return !limit.isZero();
    }

    /** Seconds until the end, not below 0. */
    private double left() {
        return Math.max(0, seconds(limit.minus(Duration.between(began, now()))));
    }

    /** Notes what it took to build and measure an image of the whole models. */
    void imageTook(Duration time) {
        image = seconds(time);
    }

    /** Notes what a round took. */
    void took(int candidates, Duration time) {
        rounds.add(new Round(candidates, seconds(time)));
    }

    /** The time that rounds take, by the smallest and the largest one; of a single one half is the image's. */
    private Rate rate() {
        Round least = Collections.min(rounds, Comparator.comparingInt(Round::candidates));
        Round most = Collections.max(rounds, Comparator.comparingInt(Round::candidates));
        double slope = (most.seconds - least.seconds) / (most.candidates - least.candidates);
        double each = slope > 0 && Double.isFinite(slope) ? slope : most.seconds / most.candidates / 2;
        return new Rate(Math.max(0, most.seconds - each * most.candidates), each);
    }

    /** Whether another image of the whole models ends in time. */
    boolean allowsImage() {
        return !isLimited() || SPARE * image <= left();
    }

    /** Whether another image ends in time, with the images at the end after it. */
    boolean allowsTrial() {
        return !isLimited() || SPARE * 2 * image <= left();
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
        double free = left() - SPARE * IMAGES_AT_THE_END * image;
        if (free <= 0) {
            return 0;
        }
        if (rounds.isEmpty()) {
            return most;
        }
        Rate rate = rate();
        return (int) Math.max(0, Math.min(most, (free / SPARE - rate.image) / rate.each));
    }

    /** Seconds that are expected until the end of the search. */
    long rest(int candidates) {
        double rest = (rounds.isEmpty() ? 0 : rate().seconds(candidates)) + IMAGES_AT_THE_END * image;
        return Math.round(isLimited() ? Math.min(rest, left()) : rest);
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1000.0;
    }
}
