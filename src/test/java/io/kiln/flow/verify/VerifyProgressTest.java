// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.KeptLog;
import io.kiln.flow.verify.VerifyStep.Verification.VerifyProgress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A slow line shows how far it is. */
final class VerifyProgressTest {
    private final KeptLog log = new KeptLog();

    private String said(int line) throws InterruptedException {
        for (int i = 0; i < 1000; i++) {
            synchronized (log.said()) {
                if (log.said().size() > line) {
                    return log.said().get(log.said().size() - 1);
                }
            }
            Thread.sleep(10);
        }
        return "";
    }

    @Test
    void cases_and_bytes_are_told_again_and_again() throws InterruptedException {
        AtomicInteger done = new AtomicInteger();
        try (VerifyProgress progress =
                new VerifyProgress(log, Duration.ofMillis(5), 20, done::get, () -> 1000L * done.get())) {
            assertThat(said(0)).isEqualTo("0 of 20 cases have their answers, 0 bytes went over the line");
            done.set(12);
            assertThat(said(log.said().size() + 1))
                    .isEqualTo("12 of 20 cases have their answers, 12,000 bytes went over the line");
            assertThat(progress).isNotNull();
        }
    }

    /** What takes less than the time between two lines is not accompanied by any. */
    @Test
    void short_ones_say_nothing() {
        try (VerifyProgress progress = new VerifyProgress(log, VerifyProgress.USUAL, 1, () -> 0, () -> 0)) {
            assertThat(progress).isNotNull();
        }
        assertThat(log.said()).isEmpty();
    }
}
