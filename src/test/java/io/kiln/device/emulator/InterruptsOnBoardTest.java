// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.elf.ElfFile;
import io.kiln.device.protocol.ImageConsole;
import io.kiln.device.protocol.ImageConsole.End;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Handlers of interrupts by the vendors' names, and what happens without one. */
class InterruptsOnBoardTest {
    private static final int SYSTEM_VECTORS = 16;

    @TempDir
    Path folder;

    /** The numbers of the interrupts are from the vendors' headers: USART6 of an STM32F4 is 71, WWDG 0. */
    @Test
    void aHandlerOfTheFirmwareRunsAndAnUnexpectedInterruptIsReported() throws IOException {
        TestPrograms.need("qemu-system-arm");
        program("""
                #include <stdint.h>
                #include "kiln_console.h"
                #define NVIC_ENABLE ((volatile uint32_t*)0xe000e100u)
                #define NVIC_PEND ((volatile uint32_t*)0xe000e200u)
                void USART6_IRQHandler(void);
                void USART6_IRQHandler(void) {
                  kiln_console_text("interrupt\\n");
                }
                static void pend(uint32_t number) {
                  NVIC_ENABLE[number / 32u] = 1u << number % 32u;
                  NVIC_PEND[number / 32u] = 1u << number % 32u;
                  __asm__ volatile("dsb\\n\\tisb" ::: "memory");
                }
                int main(void) {
                  pend(71u);
                  kiln_console_text("main\\n");
                  pend(0u);
                  return 0;
                }
                """);
        Board board = TestFirmware.board("stm32f405");
        Path elf = TestFirmware.build(TestFirmware.request("stm32f405", "clang", folder), folder, Log.QUIET)
                .elf();
        StringBuilder text = new StringBuilder();
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(20)).start(elf)) {
            End end = ImageConsole.follow(process.output(), Duration.ofSeconds(20), text::append, said -> false);
            assertThat(end).isEqualTo(new End.Returned(70));
        }
        assertThat(text).contains("interrupt\nmain\n").contains("exception 0x00000010");
    }

    @ParameterizedTest
    @CsvSource({
        "stm32f405, 82, gnu",
        "stm32f4-discovery, 82, clang",
        "nucleo-f446re, 97, clang",
        "nrf52840-dk, 48, clang",
        "raspberry-pi-pico, 26, gnu"
    })
    void theTableHasAllInterruptsOfTheChip(String board, int interrupts, String toolchain) throws IOException {
        program("int main(void) { return 0; }\n");
        Path elf = TestFirmware.build(TestFirmware.request(board, toolchain, folder), folder, Log.QUIET)
                .elf();
        assertThat(ElfFile.read(elf).sections())
                .filteredOn(section -> section.name().equals(".vectors"))
                .singleElement()
                .satisfies(section -> assertThat(section.size()).isEqualTo(4L * (SYSTEM_VECTORS + interrupts)));
    }

    @Test
    void aProgramWithoutCodeOfTheUsersHasNoTable() {
        FirmwareRequest request = TestFirmware.request("stm32f405", "clang", folder);
        assertThat(FirmwareAssembler.assemble(request, Log.QUIET).directory().resolve("board/interrupts.c"))
                .doesNotExist();
    }

    @Test
    void aLineThatIsNoHandlerIsNamed() throws IOException {
        program("int main(void) { return 0; }\n");
        Path own = Files.createDirectories(folder.resolve("boards/mine"));
        Files.writeString(own.resolve("board.yaml"), "schema: 1\nid: mine\ntitle: Mine\nextends: stm32f405\n");
        Files.writeString(own.resolve("interrupts.txt"), "# none\nOne_Handler\n-\nint x; //\n");
        Board board = Boards.builtIn().with(folder.resolve("boards")).find("mine");
        assertThat(board.files().get("interrupts.txt")).isNotEqualTo(Bytes.ofText(""));
        FirmwareRequest request =
                TestFirmware.request(board, "clang", Optimize.SIZE, List.of(TestFirmware.model("default", 10)), folder);
        assertThatThrownBy(() -> FirmwareAssembler.assemble(request, Log.QUIET))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("mine/interrupts.txt:4: this is no handler of an interrupt");
    }

    private void program(String main) throws IOException {
        Files.writeString(Files.createDirectories(folder.resolve("src/main/c")).resolve("main.c"), main);
    }
}
