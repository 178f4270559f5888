// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class TimestampsTest {
    @Test
    void readsWhatMavensPluginsRead() {
        Instant expected = Instant.parse("2026-01-01T00:00:00Z");
        assertThat(Timestamps.parse("2026-01-01T00:00:00Z")).contains(expected);
        assertThat(Timestamps.parse("2026-01-01T02:00:00+02:00")).contains(expected);
        assertThat(Timestamps.parse("1767225600")).contains(expected);
    }

    @Test
    void nothingOrASingleLetterMeansNone() {
        assertThat(Timestamps.parse(null)).isEmpty();
        assertThat(Timestamps.parse(" ")).isEmpty();
        assertThat(Timestamps.parse("x")).isEmpty();
    }

    @Test
    void anythingElseIsAnError() {
        assertThatThrownBy(() -> Timestamps.parse("yesterday"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("project.build.outputTimestamp is 'yesterday'");
    }
}
