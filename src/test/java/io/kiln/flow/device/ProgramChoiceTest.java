// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.device.flash.DriveRunner;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.Probe;
import io.kiln.device.flash.ProgramRunner;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which program flashes a board, and which devices. */
final class ProgramChoiceTest {
    @TempDir
    private Path folder;

    private static FlashSpec spec(String runner, String probe) {
        FlashSpec usual = FlashSpec.USUAL;
        return new FlashSpec(
                Optional.of(probe).filter(text -> !text.isEmpty()),
                new FlashSpec.Tool(
                        "openocd", Duration.ofSeconds(20), Optional.of(runner).filter(text -> !text.isEmpty())),
                usual.content(),
                usual.journal(),
                Optional.empty(),
                false,
                false);
    }

    private Optional<FlashRunner> open(Board board, String runner, String probe) {
        return new ProgramChoice(board, spec(runner, probe), folder).open();
    }

    private static Board builtIn(String id) {
        return Boards.builtIn().find(id);
    }

    /** A board with a command of its own, here a script that copies the image. */
    private Board withCommand() throws IOException {
        Path program = folder.resolve("programmer");
        Files.writeString(
                program,
                "#!/bin/sh\ncp \"$4\" FOLDER/chip.bin\necho \"to $2, written at $5\"\n"
                        .replace("FOLDER", folder.toString()));
        assertThat(program.toFile().setExecutable(true)).isTrue();
        Files.createDirectories(folder.resolve("boards/mine"));
        Files.writeString(folder.resolve("boards/mine/board.yaml"), """
                schema: 1
                id: mine
                title: Mine
                extends: stm32f405
                flash:
                  programs:
                    command:
                      programs: [PROGRAM]
                      image: bin
                      probe: {what: a port, pattern: "[A-Z]+[0-9]", arguments: [-P, "{name}"]}
                      parameters: {verb: {pattern: ".*", default: write}}
                      steps:
                        - {arguments: ["{probe}", "{verb}", "{bin}", "{address}"], expect: "written at 0x08000000"}
                """.replace("PROGRAM", program.toString()));
        return Boards.builtIn().with(folder.resolve("boards")).find("mine");
    }

    @Test
    void theBoardsOwnCommandIsCalledAndItsWordIsTaken() throws IOException {
        FlashRunner runner = open(withCommand(), "", "A1,B2").orElseThrow();
        assertThat(runner.probes()).extracting(Probe::text).containsExactly("A1", "B2");
        assertThat(runner.verifies()).isFalse();
        FlashResult result = runner.flash(
                runner.probes().get(1),
                FlashImage.of(List.of(new FlashImage.Segment(0x08000000, Bytes.wrap(new byte[] {1, 2, 3})))),
                FlashProgress.QUIET);
        assertThat(result.failure()).isEmpty();
        assertThat(folder.resolve("chip.bin")).hasBinaryContent(new byte[] {1, 2, 3});
        assertThat(folder.resolve("flash-B2.log")).content().contains("to B2, written at 0x08000000");
        assertThat(runner.flash(
                                runner.probes().get(0),
                                FlashImage.of(List.of(new FlashImage.Segment(0x08004000, Bytes.wrap(new byte[] {1})))),
                                FlashProgress.QUIET)
                        .failure()
                        .orElseThrow()
                        .kind())
                .isEqualTo(Kind.OTHER);
        assertThatThrownBy(() -> open(withCommand(), "", "-rf"))
                .hasMessageContaining("not a valid name of a device: '-rf'");
    }

    @Test
    void aCommandOfAnUntrustedBoardIsRefused() throws IOException {
        withCommand();
        Path zip = folder.resolve("boards.zip");
        Boards.pack(folder.resolve("boards"), zip);
        assertThatThrownBy(() -> Boards.builtIn()
                        .with(zip, "com.example:boards:1", Set.of())
                        .find("mine"))
                .hasMessageContaining("a command, which is a program that runs with your rights")
                .hasMessageContaining("<trustBoard>");
        assertThat(Boards.builtIn()
                        .with(zip, "com.example:boards:1", Set.of("com.example:boards"))
                        .find("mine")
                        .programs())
                .hasSize(1);
    }

    @Test
    void aRunnerThatNeedsNothingWorksWithEveryBoard() {
        Path drive = folder.resolve("drive");
        FlashRunner runner =
                open(builtIn("raspberry-pi-pico"), "uf2", drive.toString()).orElseThrow();
        assertThat(runner).isInstanceOf(DriveRunner.class);
        assertThat(runner.probes()).extracting(Probe::text).containsExactly(drive.toString());
        assertThat(open(builtIn("stm32f405"), "dfu-util=/bin/true", "")).get().isInstanceOf(ProgramRunner.class);
        assertThat(open(builtIn("stm32f405"), "", "")).as("OpenOCD").isEmpty();
        assertThat(open(builtIn("stm32f405"), "openocd", "")).as("OpenOCD").isEmpty();
    }

    @Test
    void whatIsMissingIsTold() {
        assertThatThrownBy(() -> open(builtIn("stm32f405"), "pencil", ""))
                .hasMessageContaining("no runner `pencil`")
                .hasMessageContaining("openocd, dfu-util, esptool, jlink,");
        assertThatThrownBy(() -> open(builtIn("stm32f405"), "jlink", ""))
                .hasMessageContaining(
                        "flash.programs.jlink with device (SEGGER's name of the chip, such as STM32F446RE)");
        assertThatThrownBy(() -> open(builtIn("stm32f405"), "stm32flash=/bin/true", ""))
                .hasMessageContaining("stm32flash must be told which device to flash")
                .hasMessageContaining("/dev/ttyUSB0 or COM3");
        assertThatThrownBy(() -> open(builtIn("stm32f405"), "dfu-util=/bin/true", "all"))
                .hasMessageContaining("only OpenOCD and UF2 drives know all that is connected");
        assertThatThrownBy(() -> open(builtIn("raspberry-pi-pico"), "uf2", ""))
                .hasMessageContaining("no UF2 drive was found")
                .hasMessageContaining("mount its drive");
    }
}
