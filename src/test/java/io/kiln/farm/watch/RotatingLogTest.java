// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.KeptLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RotatingLogTest {
    @TempDir
    private Path folder;

    @Test
    void the_files_stay_within_their_size_and_go_on_after_a_restart() throws IOException {
        KeptLog console = new KeptLog();
        for (int run = 0; run < 2; run++) {
            try (RotatingLog log = RotatingLog.open(console, folder.resolve("50%"), "farm", 2000)) {
                for (int i = 0; i < 200; i++) {
                    log.info("event=job_sent job=" + i + " run=" + run);
                }
                log.warn("two\nlines");
            }
        }
        try (Stream<Path> files = Files.list(folder.resolve("50%"))) {
            List<Path> kept = files.sorted().toList();
            assertThat(kept)
                    .extracting(file -> file.getFileName().toString())
                    .containsExactly("farm.0.log", "farm.1.log", "farm.2.log", "farm.3.log", "farm.4.log");
            for (Path file : kept) {
                assertThat(file).satisfies(each -> assertThat(Files.size(each)).isLessThan(2200));
            }
            List<String> newest = Files.readAllLines(kept.get(0));
            assertThat(newest.get(newest.size() - 1)).matches("20[0-9T:.-]+Z WARN two.*lines");
            assertThat(newest.get(newest.size() - 2)).endsWith("Z INFO event=job_sent job=199 run=1");
        }
        assertThat(console.said()).hasSize(402);
    }
}
