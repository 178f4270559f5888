// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.Probe;
import io.kiln.flow.device.FlashStep.FlashRecord;
import io.kiln.report.FlashReport.Entry;
import io.kiln.report.FlashReport.Image;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlashRecordTest {
    private static final Entry ENTRY = new Entry(
            new Image("a.elf", "0".repeat(64), 100),
            null,
            "mine",
            null,
            "OpenOCD",
            "2026-01-01T00:00:00Z",
            0,
            "",
            null);

    @TempDir
    private Path folder;

    @Test
    void everyDeviceIsInTheRecordFromTheStartAndWhatIsStoppedIsInterrupted() throws IOException {
        Probe left = new Probe.Serial("left");
        Probe right = new Probe.Serial("right");
        Path lab = folder.resolve("lab.jsonl");
        try (FlashRecord record = FlashRecord.begin(
                folder.resolve("flash.json"),
                Optional.of(lab),
                ENTRY,
                FlashFailure.interrupted(true),
                List.of(left, right),
                Log.QUIET)) {
            assertThat(results()).containsExactly("left started", "right started");
            assertThat(lab).doesNotExist();
            record.done(new FlashResult(right, false, 100, Duration.ofSeconds(2), Optional.empty()));
            assertThat(results()).containsExactly("left started", "right flashed");
            record.interrupt();
            record.interrupt();
        }
        assertThat(results()).containsExactly("left interrupted", "right flashed");
        assertThat(Files.readString(folder.resolve("flash.json")))
                .contains("interrupted: flashing was interrupted; the board is not bootable now");
        assertThat(Files.readAllLines(lab)).hasSize(2);
    }

    @Test
    void theOnlyProbeHasNoName() throws IOException {
        Probe probe = new Probe.Any();
        for (int run = 0; run < 2; run++) {
            FlashRecord.begin(
                            folder.resolve("flash.json"),
                            Optional.empty(),
                            ENTRY,
                            FlashFailure.interrupted(false),
                            List.of(probe),
                            Log.QUIET)
                    .close();
        }
        assertThat(results()).containsExactly("null interrupted", "null interrupted");
        assertThat(Files.readString(folder.resolve("flash.json"))).doesNotContain("bootable");
    }

    private List<String> results() throws IOException {
        Path file = folder.resolve("flash.json");
        JsonSchemas.assertFits("flash", Files.readString(file));
        return Arrays.stream(Json.read(file, Entry[].class))
                .map(entry -> entry.probe() + " " + entry.result())
                .toList();
    }
}
