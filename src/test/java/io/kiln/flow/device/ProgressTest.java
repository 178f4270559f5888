// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.device.FlashStep.ProgressBar;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
    /** How much is written is read from OpenOCD's output, in which a probe or a chip has a say. */
    @Test
    void moreThanAllIsAll() {
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        ProgressBar bar = new ProgressBar(new PrintStream(shown, true, StandardCharsets.UTF_8), 1000);
        bar.written(500);
        bar.written(999_999_999_999L);
        assertThat(shown.toString(StandardCharsets.UTF_8))
                .contains("] 50 %  500 of 1000 bytes")
                .contains("] 100 %  1000 of 1000 bytes");
    }
}
