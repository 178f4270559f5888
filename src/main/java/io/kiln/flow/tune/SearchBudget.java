// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/** The time that a search may take, from its making on. */
final class SearchBudget {
    private final Clock clock;
    private final Duration limit;
    private final Instant began;

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

    /** Whether no further image may be begun. */
    boolean isUsedUp() {
        return !limit.isZero() && spent().compareTo(limit) >= 0;
    }
}
