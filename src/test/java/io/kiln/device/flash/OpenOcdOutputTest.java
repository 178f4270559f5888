// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OpenOcdOutputTest {
    private final OpenOcdOutput output = new OpenOcdOutput(FlashProgress.QUIET);

    @Test
    void aFloodIsNotKept() {
        String line = "Info : " + "x".repeat(60_000);
        output.accept("Error: the first");
        for (int i = 0; i < 50_000; i++) {
            output.accept(line);
        }
        output.accept("Error: the last");
        assertThat(output.lines().stream().mapToLong(String::length).sum()).isLessThan(5_000_000);
        assertThat(output.lines()).startsWith("Error: the first");
        assertThat(output.lastError()).contains("the last");
    }

    @Test
    void numbersThatNobodyCanMeanArePassedOver() {
        output.accept("@@kiln written 9999999999999999999999");
        output.accept("@@kiln written");
        output.accept("@@kiln written -1x");
        output.accept("verified 99999999999999999999 bytes in 1s");
        output.accept("verified 12 bytes in 1s (x KiB/s)");
        assertThat(output.verified()).isEqualTo(12);
    }
}
