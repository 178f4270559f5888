// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.tune.ProgramSearch.SearchBudget;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

/** What a search may still begin. */
class SearchBudgetTest {
    private final Hand clock = new Hand();

    /** A clock that is set by hand. */
    private static final class Hand extends Clock {
        private long seconds;

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new IllegalStateException("only instants are read");
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochSecond(seconds);
        }
    }

    private SearchBudget budget(int seconds) {
        return new SearchBudget(clock, Duration.ofSeconds(seconds));
    }

    @Test
    void withoutALimitEverythingIsAllowed() {
        SearchBudget budget = budget(0);
        clock.seconds = 1_000_000;
        budget.imageTook(Duration.ofMinutes(1));
        budget.took(1, Duration.ofHours(1));
        assertThat(budget.candidates(256)).isEqualTo(256);
        assertThat(budget.allowsImage()).isTrue();
        assertThat(budget.allowsTrial()).isTrue();
        assertThat(budget.rest(2)).isEqualTo(1800 + 2 * 1800 + 2 * 60);
    }

    /** 120 s: 10 are spent, 26 are set aside for two images; 84 with a reserve are 64.6, of which 4 are the image's. */
    @Test
    void aRoundIsAsLargeAsTheTimeWithoutThatOfTheLastImages() {
        SearchBudget budget = budget(120);
        clock.seconds = 10;
        budget.imageTook(Duration.ofSeconds(10));
        assertThat(budget.candidates(256)).isEqualTo(256);
        budget.took(4, Duration.ofSeconds(8));
        assertThat(budget.candidates(256)).isEqualTo(60);
        budget.took(24, Duration.ofSeconds(18));
        assertThat(budget.candidates(256)).isEqualTo(117);
        assertThat(budget.rest(20)).isEqualTo(6 + 10 + 2 * 10);
        assertThat(budget.rest(1000)).isEqualTo(110);
        clock.seconds = 95;
        assertThat(budget.candidates(256)).isZero();
        assertThat(budget.allowsTrial()).isFalse();
        assertThat(budget.allowsImage()).isTrue();
        clock.seconds = 108;
        assertThat(budget.allowsImage()).isFalse();
        clock.seconds = 200;
        assertThat(budget.candidates(256)).isZero();
        assertThat(budget.rest(1000)).isZero();
    }
}
