// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.image.Measurement;
import io.kiln.firmware.image.Measurement.ImageMeasurer;
import io.kiln.flow.spec.BoardSources;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoardProfilesTest {
    private static final String SENSOR = "schema: 1\nid: sensor-v3\ntitle: Sensor\nextends: sensor\n";
    private static final String BASE = "schema: 1\nid: sensor\nabstract: true\nextends: nucleo-f446re\n";

    @TempDir
    private Path folder;

    @Test
    void everyBoardLinksAndThePackedOnesAreReadAgain() throws IOException {
        Path boards = boards(SENSOR);
        // As large as vendors' descriptions are.
        String description = "<device>" + "<register>STATUS</register>\n".repeat(200_000) + "</device>";
        Files.writeString(boards.resolve("sensor-v3/device.svd"), description);
        BoardProfiles profiles = new BoardProfiles(boards, Log.QUIET);
        profiles.check(folder.resolve("work"), TestToolchains.environment(Log.QUIET));
        assertThat(folder.resolve("work/sensor-v3/empty.elf")).isNotEmptyFile();
        assertThat(folder.resolve("work/sensor")).doesNotExist();
        Board board = Boards.builtIn().with(boards).find("sensor-v3");
        assertThat(ImageMeasurer.measure(ElfFile.read(folder.resolve("work/sensor-v3/largest/largest.elf")), board)
                        .regions())
                .extracting(Measurement.Region::name)
                .containsExactly("flash", "sram");
        assertThat(ImageMeasurer.measure(ElfFile.read(folder.resolve("work/sensor-v3/largest/largest.elf")), board)
                        .regions())
                .allSatisfy(
                        region -> assertThat(region.available() - region.used()).isBetween(0L, 256L));

        Path zip = folder.resolve("boards.zip");
        profiles.pack(zip);
        profiles.pack(folder.resolve("again.zip"));
        assertThat(folder.resolve("again.zip")).hasSameBinaryContentAs(zip);
        try (ZipFile file = new ZipFile(zip.toFile())) {
            assertThat(file.stream().map(ZipEntry::getName))
                    .containsExactly(
                            "sensor-v3/board.yaml", "sensor-v3/device.svd", "sensor-v3/extra.c", "sensor/board.yaml");
        }
        BoardSources sources =
                new BoardSources(List.of(new BoardSources.Archive(zip, "com.acme:boards:1.2.0")), Set.of());
        Boards all = sources.boards(folder.resolve("none"));
        assertThat(all.find("sensor-v3").title()).isEqualTo("Sensor");
        assertThat(all.find("sensor-v3").files().get("device.svd").text()).isEqualTo(description);
        assertThat(all.ids()).contains("sensor-v3").doesNotContain("sensor");
    }

    @Test
    void aBoardThatDoesNotCompileIsNamed() throws IOException {
        Path boards = boards(SENSOR + "sources: [startup.c, fault.c, exit.c, console.c, clock.c, extra.c]\n");
        Files.writeString(boards.resolve("sensor-v3/extra.c"), "int x = ;\n");
        assertThatThrownBy(() -> new BoardProfiles(boards, Log.QUIET)
                        .check(folder.resolve("work"), TestToolchains.environment(Log.QUIET)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("extra.c");
    }

    @Test
    void aScriptThatLeavesMemoryUnusedIsRefused() throws IOException {
        Path boards = boards(SENSOR);
        Files.writeString(boards.resolve("sensor-v3/memory.ld"), """
            INCLUDE memories.ld
            INCLUDE sections.ld
            ASSERT(__bss_end < 0x20010000, "half of the RAM is mine")
            """);
        assertThatThrownBy(() -> new BoardProfiles(boards, Log.QUIET)
                        .check(folder.resolve("work"), TestToolchains.environment(Log.QUIET)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("an application that fills the memories does not link")
                .hasMessageContaining("half of the RAM is mine");
    }

    @Test
    void anEmptyFolderIsRefused() {
        assertThatThrownBy(() -> new BoardProfiles(folder.resolve("none"), Log.QUIET)
                        .check(folder.resolve("work"), TestToolchains.environment(Log.QUIET)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no board");
    }

    private Path boards(String sensor) throws IOException {
        Path boards = folder.resolve("boards");
        Files.createDirectories(boards.resolve("sensor-v3"));
        Files.createDirectories(boards.resolve("sensor"));
        Files.writeString(boards.resolve("sensor-v3/board.yaml"), sensor);
        Files.writeString(boards.resolve("sensor-v3/extra.c"), "int kiln_extra = 1;\n");
        Files.writeString(boards.resolve("sensor/board.yaml"), BASE);
        return boards;
    }
}
