// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.OwnParts;
import io.kiln.firmware.TestFirmware;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A model in firmware of the shapes that vendors' tools make; their start-up files, HALs and linker scripts are made up, their names are not. */
final class BesideAHalTest {
    private static final String SCRIPT = "MPS2_FLASH.ld";

    @TempDir
    private Path folder;

    private void project(String shape, String... without) throws IOException {
        copied(Path.of("src/test/resources/hal", shape), without);
    }

    private void copied(Path from, String... without) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                Path to = name.endsWith(".ld") ? folder : folder.resolve("src/main/c");
                if (!List.of(without).contains(name)) {
                    WholeFiles.write(to.resolve(name), Files.readAllBytes(file));
                }
            }
        }
    }

    private OwnParts own(String startup, String linker, String console) {
        return OwnParts.of(
                "image",
                startup,
                Optional.of(linker).filter(text -> !text.isEmpty()).map(folder::resolve),
                console);
    }

    private FirmwareRequest request(OwnParts own, String board, String toolchain) {
        Board replaced = own.replaceIn(TestFirmware.board(board));
        return TestFirmware.request(
                replaced, toolchain, Optimize.SIZE, List.of(TestFirmware.model("default", 1000)), folder);
    }

    private String run(OwnParts own, String toolchain) throws IOException {
        FirmwareRequest request = request(own, "mps2-an386", toolchain);
        Path elf = TestFirmware.build(request, folder, Log.QUIET).elf();
        StringBuilder text = new StringBuilder();
        try (RunningProcess process =
                Emulator.of(request.board(), Duration.ofSeconds(20)).start(elf)) {
            End end = ImageConsole.follow(process.output(), Duration.ofSeconds(20), text::append, said -> false);
            assertThat(end)
                    .as(text.toString())
                    .matches(last -> Ends.code(last) == 0)
                    .isInstanceOfSatisfying(
                            End.Returned.class,
                            returned -> assertThat(returned.stackUsed().orElse(0))
                                    .as("deepest use of the stack")
                                    .isBetween(16L, 1000L));
        }
        return text.toString();
    }

    @ParameterizedTest
    @CsvSource({"gnu, own, '', board", "clang, own, MPS2_FLASH.ld, own", "gnu, own, own, own", "clang, board, '', own"})
    void aModelRunsInACubeShapedProjectWhileItsTickInterrupts(
            String toolchain, String startup, String linker, String console) throws IOException {
        TestPrograms.need("qemu-system-arm");
        project("cube", startup.equals("board") ? "startup_mps2.s" : "", console.equals("own") ? "" : "console.c");
        assertThat(run(own(startup, linker, console), toolchain)).contains("beside the HAL");
    }

    @Test
    void aModelRunsBehindCmsisStartUpCode() throws IOException {
        TestPrograms.need("qemu-system-arm");
        project("cube", "startup_mps2.s", "console.c", SCRIPT);
        project("cmsis");
        assertThat(run(own("own", "", "board"), "clang")).contains("beside the HAL");
    }

    /** The start-up file has sections of its own for the stack, and leaves .bss and constructors to _start. */
    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void aModelRunsBehindNordicsStartUpCode(String toolchain) throws IOException {
        TestPrograms.need("qemu-system-arm");
        project("cube", "startup_mps2.s", "console.c", SCRIPT);
        project("nordic");
        assertThat(run(own("own", "", "board"), toolchain)).contains("beside the HAL");
    }

    /** The scheduler is the stand-in for FreeRTOS of a scenario that users copy. */
    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void aModelRunsInATaskThatIsInterruptedAndWhoseStackIsMeasured(String toolchain) throws IOException {
        TestPrograms.need("qemu-system-arm");
        Path scheduler = Path.of("src/it/a-firmware-project-of-your-own/scheduler/src/main");
        copied(scheduler.resolve("c"));
        copied(scheduler.resolve("include"));
        project("freertos");
        assertThat(run(own("board", "", "board"), toolchain)).contains("the model's task used its stack");
    }

    /** What lies at 0 stands for a boot loader: its vectors have no tick. */
    @Test
    void behindABootLoaderTheVectorsAreTheImagesOwn() throws IOException {
        TestPrograms.need("qemu-system-arm");
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(folder.resolve("src/main/c/main.c"), """
            #include "kiln_console.h"
            #define SYSTICK ((volatile uint32_t*)0xe000e010u)
            void Reset_Handler(void);
            void SysTick_Handler(void);
            __attribute__((section(".boot"), used)) static void (*const boot[])(void) = {(void (*)(void))0x20001000u, Reset_Handler};
            static volatile uint32_t ticks;
            void SysTick_Handler(void) { ++ticks; }
            int main(void) {
              SYSTICK[1] = 24999u;
              SYSTICK[2] = 0u;
              SYSTICK[0] = 7u;
              while (ticks < 3u) {
              }
              kiln_console_text("ticks");
              return 0;
            }
            """);
        Files.writeString(folder.resolve(SCRIPT), """
            MEMORY {
              BOOT (r) : ORIGIN = 0, LENGTH = 256
              CODE (rx) : ORIGIN = 0x4000, LENGTH = 1M
              DATA (rw) : ORIGIN = 0x20000000, LENGTH = 1M
            }
            REGION_ALIAS("CONSTANTS", CODE)
            SECTIONS { .boot : { KEEP(*(.boot)) } > BOOT }
            INCLUDE sections.ld
            """);
        assertThat(run(own("board", "own", "board"), "clang")).contains("ticks");
    }

    @Test
    void withoutAConsoleAProgramIsSilent() throws IOException {
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(folder.resolve("src/main/c/main.c"), """
            #include "kiln_console.h"
            int main(void) {
              kiln_console_text("lost");
              return 0;
            }
            """);
        FirmwareRequest request = request(own("board", "", "none"), "nucleo-f446re", "clang");
        Path elf = TestFirmware.build(request, folder, Log.QUIET).elf();
        assertThat(Files.readString(request.directory().resolve("Makefile")))
                .contains("board/own_console.c")
                .doesNotContain("board/console.c");
        assertThat(elf).exists();
    }

    @Test
    void scriptsForModelsInSlotsGetTheVendorsNamesToo() {
        Board board = own("own", "", "board").replaceIn(TestFirmware.board("mps2-an386"));
        assertThat(board.linker()).contains("own.ld");
        assertThat(board.slotsLinker()).contains("own.slots.ld");
        assertThat(board.files().get("own.slots.ld").text()).contains("INCLUDE memory.slots.ld", "_estack");
        assertThat(board.sources()).contains("own_startup.c").doesNotContain("startup.c");
        assertThat(own("own", "", "board")
                        .replaceIn(TestFirmware.board("raspberry-pi-pico"))
                        .sources())
                .doesNotContain("boot2.S");
    }

    @Test
    void whatCannotBeReplacedIsTold() {
        assertThatThrownBy(() -> own("own", "", "board").replaceIn(TestFirmware.board("hifive1-revb")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("needs a Cortex-M core");
        assertThatThrownBy(() -> own("board", "none.ld", "board").replaceIn(TestFirmware.board("mps2-an386")))
                .hasMessageContaining("no such linker script");
        assertThatThrownBy(() -> own("board", "own", "board")).hasMessageContaining("there are 0 linker scripts in");
        assertThatThrownBy(() -> own("theirs", "", "board")).hasMessageContaining("kiln.startup");
        assertThatThrownBy(() -> OwnParts.of("zip", "board", Optional.empty(), "board"))
                .hasMessageContaining("kiln.firmware");
    }
}
