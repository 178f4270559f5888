// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.BoardFlow;
import io.kiln.flow.BoardFlow.NewBoard;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Devices of CMSIS-Packs as boards: listed, written and linked. */
class DeviceBoardsTest {
    private static final Path MADE_UP =
            Path.of("src/test/resources/packs/made-up").toAbsolutePath();
    private static final long SEED = 20_261_130;
    private static final int OF_EACH_FAMILY = 1;

    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();

    @Test
    void devicesAreListedAndSearched() {
        BoardFlow.devices(log, MADE_UP, "");
        assertThat(log.said())
                .hasSize(1 + 20)
                .anyMatch(line -> line.matches("PLN446RETx +Cortex-M4 +180 MHz +512K +128K +Kiln.MadeUp_DFP.1.2.0"))
                .anyMatch(line -> line.matches("PLN747 +Cortex-M7 \\+ Cortex-M4 +480 MHz +1M +704K .*"))
                .anyMatch(line -> line.matches("BAD_CORE .* no board: BAD_CORE has a Cortex-A53, .*"));
        KeptLog some = new KeptLog();
        BoardFlow.devices(some, MADE_UP, "pln4*ret6");
        assertThat(some.said()).hasSize(2).anyMatch(line -> line.startsWith("PLN446RETx "));
        assertThatThrownBy(() -> BoardFlow.devices(log, MADE_UP, "STM32"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the pack has no device STM32")
                .hasMessageContaining("one of its 20 devices");
    }

    @Test
    void aBoardIsWrittenWithItsQuestions() throws IOException {
        NewBoard boards = new NewBoard(log, Boards.builtIn());
        boards.write(MADE_UP, "MadeUp::PLN446RETx", "", folder);
        assertThat(folder.resolve("pln446retx"))
                .isDirectoryContaining("glob:**/memory.ld")
                .isDirectoryContaining("glob:**/memory.slots.ld")
                .isDirectoryContaining("glob:**/interrupts.txt")
                .isDirectoryContaining("glob:**/kiln_board.h")
                .isDirectoryContaining("glob:**/device.svd");
        String written = Files.readString(folder.resolve("pln446retx/board.yaml"));
        assertThat(written)
                .contains("# What the pack does not tell:\n# * Clock: 180000000 Hz is the most that the device takes")
                .contains(
                        "# * Console: ",
                        "# * Wait states: ",
                        "# * Flashing: OpenOCD 0.12 has no script for this family.")
                .contains("  # Sectors of the flash: 4 × 16K, 1 × 64K, 3 × 128K\n  parameters: 0x08040000\n");
        assertThat(written.lines().mapToInt(String::length).max().orElseThrow()).isLessThan(150);
        assertThat(log.said()).anyMatch(line -> line.contains("-Dkiln.board=pln446retx"));
        Board board = Boards.builtIn().with(folder).find("pln446retx");
        assertThat(board.title()).isEqualTo("PLN446RETx (Cortex-M4, 512K of flash, 128K of RAM)");

        assertThatThrownBy(() -> boards.write(MADE_UP, "PLN446RETx", "", folder))
                .hasMessageContaining("exists already");
        assertThatThrownBy(() -> boards.write(MADE_UP, "", "", folder)).hasMessageContaining("no device is named");
        assertThatThrownBy(() -> boards.write(MADE_UP, "PLN000", "../up", folder))
                .hasMessageContaining("not a valid board id");
    }

    @Test
    void theSmallestAndTheOneWithMostMemoriesLink() throws IOException {
        Map<String, String> refused = link(Map.of("made-up", MADE_UP), List.of("PLN747", "PLN000"));
        assertThat(refused).isEmpty();
    }

    @Test
    @NeedsShared("packs")
    void aDeviceOfEachFamilyLinks() throws IOException {
        assertThat(linkShared(OF_EACH_FAMILY)).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    @NeedsShared("packs")
    void nearlyAllDevicesLinkAndTheOthersAreRefusedWithAReason() throws IOException {
        Map<String, String> refused = linkShared(Integer.MAX_VALUE);
        assertThat(refused.keySet()).containsExactly("ODD6");
        assertThat(refused.get("ODD6")).contains("the pack lists no memory of ODD6 that keeps code");
    }

    /** Links a few devices of each pack; returns the messages of those that are refused. */
    private Map<String, String> linkShared(int most) throws IOException {
        Random random = new Random(SEED);
        Map<String, String> refused = new TreeMap<>();
        int all = 0;
        try (var files = Files.list(SharedFolder.need("packs"))) {
            for (Path pack : files.filter(file -> file.toString().endsWith(".pdsc"))
                    .sorted()
                    .toList()) {
                KeptLog listed = new KeptLog();
                BoardFlow.devices(listed, pack, "");
                List<String> names = new ArrayList<>(listed.said().stream()
                        .skip(1)
                        .map(line -> line.substring(0, line.indexOf(' ')))
                        .toList());
                Collections.shuffle(names, random);
                List<String> some = names.subList(0, Math.min(most, names.size()));
                all += some.size();
                refused.putAll(link(
                        Map.of(pack.getFileName().toString().toLowerCase(Locale.ROOT), pack.toAbsolutePath()), some));
            }
        }
        assertThat(all).isGreaterThanOrEqualTo(5);
        assertThat(refused.size()).isLessThanOrEqualTo(Math.max(1, all / 20));
        return refused;
    }

    private Map<String, String> link(Map<String, Path> packs, List<String> devices) throws IOException {
        Map<String, String> refused = new LinkedHashMap<>();
        for (Map.Entry<String, Path> pack : packs.entrySet()) {
            for (String device : devices) {
                String id = device.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_.-]", "-");
                Path boards = folder.resolve(pack.getKey()).resolve(id);
                Files.createDirectories(boards.resolve(id));
                Files.writeString(
                        boards.resolve(id).resolve("board.yaml"),
                        "schema: 1\nid: " + id + "\ntitle: Mine\ndevice: {pack: \""
                                + pack.getValue().toString().replace('\\', '/') + "\", name: \"" + device + "\"}\n");
                try {
                    new BoardProfiles(boards, Log.QUIET)
                            .check(folder.resolve("work"), TestToolchains.environment(Log.QUIET));
                    Path images = folder.resolve("work").resolve(id);
                    assertThat(images.resolve("empty.elf")).isNotEmptyFile();
                    assertThat(images.resolve("largest/largest.elf")).isNotEmptyFile();
                } catch (KilnException e) {
                    refused.put(device, e.getMessage());
                }
            }
        }
        return refused;
    }
}
