// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.lease.BoardLeases.BoardLease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A board is one worker's, until it gives it back or stops to renew its lease. */
final class BoardLeasesTest {
    private static final Duration TERM = Duration.ofSeconds(15);

    @TempDir
    private Path folder;

    private final SetClock clock = new SetClock();

    /** A clock that stands still. */
    private static final class SetClock extends Clock {
        private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);

        void advance(Duration time) {
            now.updateAndGet(before -> before.plus(time));
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now.get();
        }
    }

    private BoardLeases leases() {
        return new BoardLeases(folder, clock, TERM);
    }

    @Test
    void two_workers_never_have_a_board_at_once() throws IOException {
        BoardLease first = leases().take("0669FF/x").orElseThrow();
        assertThat(leases().take("0669FF/x")).isEmpty();
        assertThat(leases().take("0669FF_x")).isPresent();
        first.close();
        BoardLease second = leases().take("0669FF/x").orElseThrow();
        second.close();
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.filter(file -> file.toString().endsWith(".lease"))).hasSize(1);
        }
    }

    @Test
    void a_lease_lasts_as_long_as_it_is_renewed() {
        BoardLease first = leases().take("a").orElseThrow();
        clock.advance(TERM.minusMillis(1));
        assertThat(first.renew()).isTrue();
        clock.advance(TERM.minusMillis(1));
        assertThat(leases().take("a")).isEmpty();
        clock.advance(Duration.ofMillis(1));
        assertThat(first.renew()).isFalse();
        BoardLease second = leases().take("a").orElseThrow();
        assertThat(first.renew()).isFalse();
        first.close();
        assertThat(second.renew()).isTrue();
    }
}
