// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.kiln.base.KilnException;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.board.Board.BoardTimer;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Board.Speed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Boards of five lines: the key {@code device} takes what a CMSIS-Pack says. */
class DeviceProfileTest {
    private static final Path MADE_UP =
            Path.of("src/test/resources/packs/made-up").toAbsolutePath();

    @TempDir
    private Path folder;

    @Test
    void fiveLinesAreABoard() throws IOException {
        Board board = board("PLN446RETx", "");
        assertThat(board.target()).isEqualTo("c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=pln446retx");
        assertThat(board.memories())
                .containsExactlyElementsOf(nucleo().memories().stream()
                        .map(memory -> new Memory(
                                memory.name(),
                                memory.kind(),
                                memory.base(),
                                memory.size(),
                                Board.Timing.USUAL,
                                new Board.Wiring(memory.fetch(), memory.mirrors(), memory.targets())))
                        .toList());
        assertThat(board.timer()).hasValue(new BoardTimer("DWT cycles", 180_000_000, true));
        assertThat(board.emulation()).isEqualTo(new Emulation.StandIn("mps2-an386"));
        assertThat(board.flashing()).isEmpty();
        assertThat(board.building().compile()).containsExactly("-DPLN4xx");
        assertThat(board.files().get("kiln_board.h").text()).contains("#define KILN_CORE_CLOCK 180000000u");
        assertThat(board.files().get("device.svd").text()).contains("<name>PLAIN</name>");
        assertThat(regions(board)).isEqualTo(regions(nucleo()));
        // The sectors of the flash algorithm's table: 4 of 16 KiB, 1 of 64 KiB, 3 of 128 KiB.
        assertThat(board.parameters()).hasValue(0x08040000);
        assertThat(board.slots()).hasValue(new ModelSlots(0x08040000, 0x08060000, 0x20000, 0x20010000));
        assertThat(board.files().get("interrupts.txt").text().lines().filter(line -> !line.startsWith("#")))
                .containsExactly(
                        "WDT_IRQHandler",
                        "-",
                        "-",
                        "UART0_RX_IRQHandler",
                        "UART0_TX_IRQHandler",
                        "-",
                        "UART1_IRQHandler",
                        "DMA1_IRQHandler",
                        "-",
                        "RTC_IRQ_Handler",
                        "RTC_IRQHandler");
        assertThat(board.files().get("interrupts.txt").text())
                .contains("# The next one is also called DMA1_ERR_IRQHandler.\nDMA1_IRQHandler\n");
    }

    @Test
    @NeedsShared("packs")
    void theMemoryMapOfTheF446IsThatOfTheBoardWrittenByHand() throws IOException {
        Board board = board(
                SharedFolder.need("packs").resolve("Keil.STM32F4xx_DFP.pdsc").toAbsolutePath(), "STM32F446RET6", "");
        assertThat(regions(board)).isEqualTo(regions(nucleo()));
        assertThat(board.memories())
                .extracting(Memory::name, Memory::kind, Memory::base, Memory::size, Memory::fetch)
                .isEqualTo(nucleo().memories().stream()
                        .map(m -> tuple(m.name(), m.kind(), m.base(), m.size(), m.fetch()))
                        .toList());
        assertThat(board.pools()).isEqualTo(nucleo().pools());
        assertThat(board.openOcd().map(Flashing.OpenOcd::targetConfig)).hasValue("target/stm32f4x.cfg");
        assertThat(board.openOcd().map(Flashing.OpenOcd::interfaceConfig))
                .isEqualTo(nucleo().openOcd().map(Flashing.OpenOcd::interfaceConfig));
    }

    @Test
    void memoriesAreTakenForWhatTheyAre() throws IOException {
        assertThat(names(board("PLN405", ""))).containsExactly("flash", "ccm", "sram");
        assertThat(board("PLN405", "").pools().orElseThrow().workspace()).containsExactly("ccm", "sram");
        assertThat(board("PLN405", "").files().get("interrupts.txt").text())
                .contains("Include/pln405.h\nWDT_IRQHandler\n-\n-\nUART0_RX_IRQHandler\n-\nQUADSPI_IRQHandler\n");
        assertThat(board("PLN405", "").parameters()).hasValue(0x08080000);

        Board big = board("PLN747", "");
        assertThat(names(big)).containsExactly("flash", "dtcm", "ram_d1", "ram_d3");
        assertThat(big.memory("flash").map(Memory::size)).hasValue(1L << 20);
        assertThat(big.pools().orElseThrow().workspace()).containsExactly("dtcm", "ram_d3", "ram_d1");
        assertThat(big.memory("dtcm").map(Memory::speed)).hasValue(Speed.FAST);
        assertThat(big.memory("ram_d3").map(Memory::speed)).hasValue(Speed.SLOW);
        Board small = board("PLN747:SMALL", "");
        assertThat(names(small)).containsExactly("flash_bank3", "ram_d2", "ram_d3");
        assertThat(small.target()).contains("-mcpu=cortex-m4 ");

        Board split = board("PLN750", "");
        assertThat(split.target()).contains("-mcpu=cortex-m7+nofp.dp ");
        assertThat(split.pools().orElseThrow().constants()).containsExactly("flash1", "flash2");
        assertThat(names(split)).containsExactly("flash1", "flash2", "ram");
        assertThat(names(board("PLN700", ""))).containsExactly("flash", "sram");
        Board vector = board("PLN855", "");
        assertThat(names(vector)).containsExactly("mram", "itcm", "sram0", "dtcm");
        assertThat(vector.pools().orElseThrow().code()).isEqualTo("mram");
        assertThat(vector.pools().orElseThrow().workspace()).containsExactly("itcm", "sram0", "dtcm");
        assertThat(vector.memories())
                .extracting(Memory::speed)
                .containsExactly(Speed.SLOW, Speed.FAST, Speed.SLOW, Speed.NORMAL);
    }

    @Test
    void ofSeveralViewsOneCounts() throws IOException {
        Board plain = board("PLN563", "");
        assertThat(plain.memories()).extracting(Memory::base).containsExactly(0x08000000L, 0x20000000L);
        assertThat(plain.memory("sram").map(Memory::size)).hasValue(0x50000L);
        Board circle = board("PLN033", "");
        assertThat(circle.memories()).extracting(Memory::base).containsExactly(0L, 0x20000000L);
        assertThat(circle.target()).contains("-mcpu=cortex-m33+nofp+nodsp ");
    }

    @Test
    void aBootLoaderKeepsItsPart() throws IOException {
        Board board = board("PLN446RETx, offset: 0x4000", "");
        assertThat(board.memory("flash").map(Memory::base)).hasValue(0x08004000L);
        assertThat(board.memory("flash").map(Memory::size)).hasValue(0x7c000L);
        assertThat(board.building().compile()).contains("-DKILN_SET_VECTORS=1");
        assertThatThrownBy(() -> board("PLN446RETx, offset: 0x80000", ""))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("board.yaml:4")
                .hasMessageContaining("leaves nothing of Flash (0x08000000, 512K)");
        assertThatThrownBy(() -> board("PLN446RETx, offset: 0x4010", ""))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("board.yaml:4")
                .hasMessageContaining("a multiple of 256");
    }

    @Test
    void theClockMayBeLowerAndNotHigher() throws IOException {
        Board slow = board("PLN446RETx", "timer: {counter: DWT cycles, hertz: 16000000, cycles: true}\n");
        assertThat(slow.files().get("kiln_board.h").text()).contains("#define KILN_CORE_CLOCK 16000000u");
        assertThatThrownBy(() -> board("PLN405", "extends: nucleo-f446re\n"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the core's clock is 168000000 Hz")
                .hasMessageContaining("at most 100000000");
        assertThat(board("PLN446RETx", "extends: device\n").sources())
                .isEqualTo(board("PLN446RETx", "").sources());
        Board inherited = board("PLN446RETx", "extends: nucleo-f446re\n");
        assertThat(inherited.timer()).isEqualTo(nucleo().timer());
        assertThat(inherited.sources()).contains("clock.c");
        assertThat(inherited.files().get("kiln_board.h"))
                .isEqualTo(nucleo().files().get("kiln_board.h"));
    }

    @Test
    void whatCannotBeABoardIsRefusedWithItsReason() {
        refused("BAD_NOROM", "no memory of BAD_NOROM that keeps code");
        refused("BAD_NORAM", "no RAM of BAD_NORAM");
        refused("BAD_OVERLAP", "MadeUp_DFP.pdsc:", "Boot (0x08040000, 512K) overlaps Flash (0x08000000, 512K)");
        refused("BAD_NEGATIVE", "MadeUp_DFP.pdsc:", "the attribute size is -1", "a number such as 0x08000000");
        refused("BAD_BEYOND", "MadeUp_DFP.pdsc:", "ends beyond the last address");
        refused("BAD_CORE", "BAD_CORE has a Cortex-A53, for which Kiln does not compile", "board.yaml:4");
        refused("PLN747:MIDDLE", "PLN747 has no core MIDDLE", "one of BIG, SMALL");
        refused("PLN446", "PLN446 is the beginning of 2 devices", "one of PLN446RETx, PLN446RCTx");
        refused("PLN744", "the pack has no device PLN744", "Did you mean PLN747");
    }

    private void refused(String device, String... parts) {
        assertThatThrownBy(() -> board(device, ""))
                .isInstanceOf(KilnException.class)
                .satisfies(e -> assertThat(((KilnException) e).problems()).hasSize(1))
                .satisfies(e -> assertThat(e.getMessage()).contains(parts));
    }

    @Test
    void packsAreFoundAsTheyAreNamed() throws IOException {
        Path project = folder.resolve("src/main/boards");
        write("{pack: com.acme:pack:1.0, name: PLN446RETx}", "");
        assertThatThrownBy(() -> Boards.builtIn().with(project).find("mine"))
                .hasMessageContaining("packs cannot be fetched here");
        Boards fetching = Boards.builtIn().with(coordinates -> {
            assertThat(coordinates).isEqualTo("com.acme:pack:1.0");
            return MADE_UP;
        });
        Board board = fetching.with(project).find("mine");
        assertThat(board.support().pack()).hasValue(MADE_UP);

        Path zip = folder.resolve("boards.zip");
        Boards.pack(project, zip);
        assertThat(fetching.with(zip, "com.acme:boards:1", Set.of())
                        .find("mine")
                        .memories())
                .isEqualTo(board.memories());
        write("{pack: ../../packs, name: PLN446RETx}", "");
        Boards.pack(project, zip);
        assertThatThrownBy(
                        () -> fetching.with(zip, "com.acme:boards:1", Set.of()).find("mine"))
                .hasMessageContaining("a profile from a repository names a pack by a path")
                .hasMessageContaining("board.yaml:4");
    }

    private Board board(String device, String more) throws IOException {
        return board(MADE_UP, device, more);
    }

    private Board board(Path pack, String device, String more) throws IOException {
        write("{pack: \"" + pack.toString().replace('\\', '/') + "\", name: " + device + "}", more);
        return Boards.builtIn().with(folder.resolve("src/main/boards")).find("mine");
    }

    private void write(String device, String more) throws IOException {
        Path mine = Files.createDirectories(folder.resolve("src/main/boards/mine"));
        Files.writeString(
                mine.resolve("board.yaml"), "schema: 1\nid: mine\ntitle: Mine\ndevice: " + device + "\n" + more);
    }

    private static Board nucleo() {
        return Boards.builtIn().find("nucleo-f446re");
    }

    private static List<String> names(Board board) {
        return board.memories().stream().map(Memory::name).toList();
    }

    /** The lines of MEMORY in the linker script, or in the file that it includes. */
    private static List<String> regions(Board board) {
        return Stream.of("memory.ld", "memories.ld")
                .map(file -> Pattern.compile("MEMORY\\s*\\{([^}]*)\\}")
                        .matcher(board.files().get(file).text()))
                .filter(Matcher::find)
                .limit(1)
                .flatMap(memory -> memory.group(1).lines())
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
    }
}
