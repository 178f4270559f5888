// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.flow.worker.WorkerJobs.BoardHistories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Histories of boards in files that may hold anything. */
final class BoardHistoriesTest {
    private static final Offer BOARD = Offer.board("nucleo-f446re", "cortex-m4", "A1");

    private final BoardHistories histories =
            new BoardHistories(Clock.fixed(Instant.parse("2026-11-30T08:00:00Z"), ZoneOffset.UTC));

    @TempDir
    private Path folder;

    private BoardHistory after(String failure) {
        histories.change(folder, BOARD, history -> history.with(histories.now(), "ab", failure, 1, 0));
        return histories.read(folder, BOARD);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "{}",
                "{\"board\": 1",
                "{\"board\":\"b\",\"probe\":\"p\",\"since\":\"s\",\"counts\":null,\"last\":null}",
                "{\"board\":\"b\",\"probe\":\"p\",\"since\":\"s\",\"counts\":{\"jobs\":1e99,\"failures\":0,\"flashes\":0,"
                        + "\"powerCycles\":0},\"last\":{\"time\":\"\",\"image\":\"\",\"failure\":\"\"}}"
            })
    void aDamagedOneBeginsAnew(String text) throws IOException {
        Files.writeString(folder.resolve("history.json"), text);
        assertThat(after("").counts()).isEqualTo(new BoardHistory.Counts(1, 0, 1, 0));
    }
}
