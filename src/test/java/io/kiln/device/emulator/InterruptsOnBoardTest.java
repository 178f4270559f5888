// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.elf.ElfFile;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
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
import org.junit.jupiter.params.provider.ValueSource;

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
            assertThat(end).matches(last -> Ends.code(last) == 70);
        }
        assertThat(text).contains("interrupt\nmain\n").contains("exception 0x00000010");
    }

    @ParameterizedTest
    @CsvSource({"stm32f405, 82, gnu", "nucleo-h743zi, 150, clang", "microbit, 26, clang"})
    void theVectorsOfTheImageAreThoseOfTheCoreAndTheChip(String board, int interrupts, String toolchain)
            throws IOException {
        program("int main(void) { return 0; }\n");
        Path elf = TestFirmware.build(TestFirmware.request(board, toolchain, folder), folder, Log.QUIET)
                .elf();
        assertThat(ElfFile.read(elf).sections())
                .filteredOn(section -> section.name().equals(".vectors"))
                .singleElement()
                .satisfies(section -> assertThat(section.size()).isEqualTo(4L * (SYSTEM_VECTORS + interrupts)));
    }

    /** Counts and single numbers are those of the vendors' headers, checked by hand. */
    @ParameterizedTest
    @CsvSource({
        "stm32f4-discovery, 82, 61, ETH_IRQHandler",
        "stm32f4-discovery, 82, 78, DCMI_IRQHandler",
        "nucleo-f446re, 97, 96, FMPI2C1_ER_IRQHandler",
        "nucleo-f746zg, 98, 97, SPDIF_RX_IRQHandler",
        "nucleo-h743zi, 150, 127, ADC3_IRQHandler",
        "nucleo-l4r5zi, 95, 83, I2C4_ER_IRQHandler",
        "b-u585i-iot02a, 126, 113, ADC4_IRQHandler",
        "nrf52840-dk, 48, 47, SPIM3_IRQHandler",
        "microbit, 26, 25, SWI5_IRQHandler",
        "raspberry-pi-pico, 26, 25, RTC_IRQ_Handler",
        "qemu-riscv32, 12, 10, uart0_handler",
        "hifive1-revb, 53, 52, i2c_handler"
    })
    void theTableHasAllInterruptsOfTheChip(String board, int interrupts, int number, String handler)
            throws IOException {
        program("int main(void) { return 0; }\n");
        FirmwareRequest request = TestFirmware.request(board, "clang", folder);
        Path project = FirmwareAssembler.assemble(request, Log.QUIET).directory();
        List<String> table = Files.readString(project.resolve("board/interrupts.c"))
                .replaceFirst("(?s).*kiln_interrupts\\[]\\)\\(void\\) = \\{\n", "")
                .replaceFirst("(?s)\n};.*", "")
                .lines()
                .map(line -> line.strip().replace(",", ""))
                .toList();
        assertThat(table).hasSize(interrupts);
        assertThat(table.get(number)).isEqualTo(handler);
    }

    /** The UART interrupts as soon as it may, because it has nothing to send. */
    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void theTimerAndASourceOfThePlicReachTheirHandlersOnRiscV(String toolchain) throws IOException {
        TestPrograms.need("qemu-system-riscv32");
        program("""
            #include "kiln_console.h"
            #include "kiln_plic.h"
            #define UART_INTERRUPTS (*(volatile uint8_t*)0x10000001u)
            #define UART_IDENTIFICATION (*(volatile uint8_t*)0x10000002u)
            #define TIMER_COMPARE_LOW (*(volatile uint32_t*)0x02004000u)
            #define TIMER_COMPARE_HIGH (*(volatile uint32_t*)0x02004004u)
            #define SOFTWARE (*(volatile uint32_t*)0x02000000u)
            void metal_riscv_cpu_intc_mtip_handler(void);
            void uart0_handler(void);
            static volatile int timers;
            static volatile int sources;
            void metal_riscv_cpu_intc_mtip_handler(void) {
              TIMER_COMPARE_HIGH = 0xffffffffu;
              ++timers;
            }
            void uart0_handler(void) {
              UART_INTERRUPTS = 0u;
              (void)UART_IDENTIFICATION;
              ++sources;
            }
            int main(void) {
              TIMER_COMPARE_LOW = 0u;
              TIMER_COMPARE_HIGH = 0u;
              kiln_interrupt_sources_set(KILN_MIE_TIMER | KILN_MIE_EXTERNAL | KILN_MIE_SOFTWARE);
              kiln_plic_enable(10u, 1u);
              kiln_interrupts_enable();
              while (timers != 1) {
              }
              UART_INTERRUPTS = 2u;
              while (sources != 1) {
              }
              kiln_console_text("both\\n");
              SOFTWARE = 1u;
              for (;;) {
              }
            }
            """);
        Path elf = TestFirmware.build(TestFirmware.request("qemu-riscv32", toolchain, folder), folder, Log.QUIET)
                .elf();
        StringBuilder text = new StringBuilder();
        Board board = TestFirmware.board("qemu-riscv32");
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(20)).start(elf)) {
            End end = ImageConsole.follow(process.output(), Duration.ofSeconds(20), text::append, said -> false);
            assertThat(end).matches(last -> Ends.code(last) == 70);
        }
        assertThat(text).contains("both\n").contains("exception 0x80000003");
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
                .hasMessageContaining("mine/interrupts.txt:4: this is not a handler of an interrupt");
    }

    private void program(String main) throws IOException {
        Files.writeString(Files.createDirectories(folder.resolve("src/main/c")).resolve("main.c"), main);
    }
}
