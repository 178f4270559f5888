// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SessionLimitsTest {
    @Test
    void programsOfABusyComputerShareProcessors() {
        assertThat(SessionLimits.share(-1, 2)).isEqualTo(1);
        assertThat(SessionLimits.share(1.5, 2)).isEqualTo(1);
        assertThat(SessionLimits.share(10.5, 2)).isEqualTo(6);
        assertThat(SessionLimits.share(1e9, 2)).isEqualTo(12);
    }

    @Test
    void limitsOfAnEmulatorGrow() {
        SessionLimits set = new SessionLimits(Optional.of(Duration.ofSeconds(1)), Optional.empty());
        assertThat(set.of(false)).isEqualTo(set);
        assertThat(set.of(true).start().orElseThrow()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(12));
        assertThat(set.of(true).answer()).isEmpty();
    }
}
