// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.flow.inspect.Doctor.DeviceRights;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.BoardSpec.DoctorSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoctorTest {
    private final KeptLog log = new KeptLog();

    @TempDir
    private Path folder;

    @Test
    void whatIsMissingFailsTheStrictModeOnly() {
        ToolchainEnvironment environment = TestToolchains.environment(log);
        DeviceRights all = new DeviceRights(Path.of("/nowhere"), path -> true);
        Doctor doctor = new Doctor(log, environment, tool -> !tool.program().startsWith("qemu-system-"), all);
        doctor.run(spec("stm32f405"), false, false);
        assertThat(log.warnings())
                .containsExactly("Missing for stm32f405; get it with: apt-get install -y qemu-system-arm");
        assertThatThrownBy(() -> doctor.run(spec("stm32f405"), false, true))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("qemu-system-arm is missing")
                .hasMessageContaining("Get it with: apt-get install -y qemu-system-arm")
                .hasMessageNotContaining("riscv32");
        ToolsReport report = doctor.report(spec("stm32f405"));
        JsonSchemas.assertFits("doctor", Json.text(report));
        assertThat(report.missing()).containsExactly("qemu-system-arm");
        assertThat(report.install()).containsExactly("apt-get", "install", "-y", "qemu-system-arm");
        assertThatThrownBy(() -> Doctor.requireAll(report)).hasMessageContaining("qemu-system-arm is missing");
        assertThat(log.said()).noneMatch(line -> line.startsWith("Nothing is missing"));
        new Doctor(log, environment, tool -> true, all).run(spec("stm32f405"), false, true);
        assertThat(log.said()).endsWith("Nothing is missing for stm32f405");
    }

    /** A C library, and a compiler for unit tests, are needed by the project only. */
    @Test
    void whatTheProjectNeedsIsMissingToo() {
        ToolchainEnvironment environment = TestToolchains.environment(log);
        DeviceRights all = new DeviceRights(folder, path -> true);
        Doctor doctor = new Doctor(log, environment, tool -> !tool.program().matches("cc|arm-none-eabi-gcc"), all);
        doctor.run(spec("mps2-an386"), false, true);
        doctor.run(spec("mps2-an386", Libc.NANO, true), false, false);
        assertThat(log.warnings())
                .containsExactly(
                        "Missing for mps2-an386; get it with: apt-get install -y gcc gcc-arm-none-eabi libc6-dev"
                                + " libnewlib-arm-none-eabi");
        new Doctor(log, environment, tool -> true, all).run(spec("mps2-an386", Libc.NANO, true), false, true);
        assertThat(log.said()).endsWith("Nothing is missing for mps2-an386");
    }

    /** Whatever single program is absent, its name or its package is said; the C library, rights and programs that flash have tests of their own. */
    @ParameterizedTest
    @CsvSource({
        "qemu-system-arm, mps2-an386, clang, qemu-system-arm",
        "qemu-system-riscv32, qemu-riscv32, clang, qemu-system-misc",
        "arm-none-eabi-gcc, mps2-an386, gnu, gcc-arm-none-eabi libnewlib-arm-none-eabi",
        "riscv64-unknown-elf-gcc, qemu-riscv32, gnu, gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
        "cc, host, host, gcc libc6-dev",
        "openocd, stm32f405, clang, openocd",
        ".*gdb.*, mps2-an386, clang, gdb-multiarch",
        ".*gdb.*, qemu-riscv32, clang, gdb-multiarch",
    })
    void nothingIsMissingIsNeverSaidWhereAnythingIs(String absent, String board, String toolchain, String packages) {
        DoctorSpec spec = new DoctorSpec(
                new BoardSpec(board, Boards.builtIn(), Optional.of(toolchain)), ConsoleSpec.OF_BOARD, Libc.NONE, false);
        ToolchainEnvironment environment = TestToolchains.environment(log);
        DeviceRights all = new DeviceRights(Path.of("/nowhere"), path -> true);
        boolean isOfBuilds = !absent.contains("gdb");
        Doctor doctor = new Doctor(log, environment, tool -> !tool.program().matches(absent), all);
        doctor.run(spec, false, !isOfBuilds);
        assertThat(log.said()).noneMatch(line -> line.contains("othing is missing"));
        assertThat(log.warnings()).singleElement().asString().endsWith("apt-get install -y " + packages);
        if (isOfBuilds) {
            assertThatThrownBy(() -> doctor.run(spec, false, true)).hasMessageContaining(absent + " is missing");
        }
        new Doctor(log, environment, tool -> true, all).run(spec, false, true);
        assertThat(log.said()).endsWith("Nothing is missing for " + board);
    }

    @Test
    void theProgramThatFlashesTheBoardIsNeeded() {
        WholeFiles.write(folder.resolve("mine/board.yaml"), """
            schema: 1
            id: mine
            title: Mine
            extends: stm32f405
            flash:
              programs:
                command:
                  programs: [kiln-no-such-program]
                  install: Ask its maker
                  image: hex
                  steps: [{arguments: ["{image}"]}]
            """);
        BoardSpec board = new BoardSpec("mine", Boards.builtIn().with(folder), Optional.empty());
        DoctorSpec spec = new DoctorSpec(board, ConsoleSpec.OF_BOARD, Libc.NONE, false);
        Doctor doctor =
                new Doctor(log, TestToolchains.environment(log), tool -> true, new DeviceRights(folder, path -> true));
        assertThat(doctor.report(spec).lacks())
                .containsExactly(new ToolsReport.Lack(
                        "kiln-no-such-program is not on the PATH, which flashes the board", "Ask its maker"));
        assertThatThrownBy(() -> doctor.run(spec, false, true)).hasMessageContaining("Ask its maker");
    }

    @Test
    void aProbeAndAPortThatTheUserMayNotOpenAreNamedWithTheRemedy() throws IOException {
        Path device = folder.resolve("sys/bus/usb/devices/1-1");
        Path node = folder.resolve("dev/bus/usb/001/012");
        Path port = folder.resolve("dev/ttyACM0");
        for (Path file : List.of(device.resolve("busnum"), node, port)) {
            WholeFiles.write(file, "1\n");
        }
        WholeFiles.write(device.resolve("idVendor"), "0483\n");
        WholeFiles.write(device.resolve("devnum"), "12\n");
        DeviceRights none = new DeviceRights(folder, path -> false);
        Doctor doctor = new Doctor(log, TestToolchains.environment(log), tool -> true, none);
        DoctorSpec spec = new DoctorSpec(
                board("nucleo-f446re"),
                new ConsoleSpec(Optional.of(port.toString()), Optional.empty(), Optional.empty()),
                Libc.NONE,
                false);
        doctor.run(spec, false, false);
        assertThat(log.warnings())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith(
                                        "You may not open the probe at " + node + ". Put OpenOCD's 60-openocd.rules"),
                        line -> assertThat(line)
                                .startsWith("You may not open the port " + port + ". sudo usermod -aG ")
                                .endsWith(" $USER, and log in again"));
        assertThat(log.said()).noneMatch(line -> line.startsWith("Nothing is missing"));
        assertThatThrownBy(() -> doctor.run(spec, false, true))
                .hasMessageContaining("you may not open the probe")
                .hasMessageContaining("you may not open the port");

        // Without the probe, the rules count; the port is gone, too.
        WholeFiles.write(device.resolve("idVendor"), "1d6b\n");
        Files.delete(port);
        Board nucleo = Boards.builtIn().find("nucleo-f446re");
        assertThat(none.of(nucleo, ConsoleSpec.OF_BOARD, List.of()))
                .extracting(ToolsReport.Lack::what)
                .containsExactly("no udev rule lets you open the probe of stlink.cfg");
        WholeFiles.write(
                folder.resolve("usr/lib/udev/rules.d/60-openocd.rules"),
                "ATTRS{idVendor}==\"0483\", ATTRS{idProduct}==\"374b\", MODE=\"660\", GROUP=\"plugdev\"\n");
        assertThat(none.of(nucleo, ConsoleSpec.OF_BOARD, List.of())).isEmpty();
        assertThat(none.of(Boards.builtIn().find("nrf52840-dk"), ConsoleSpec.OF_BOARD, List.of()))
                .hasSize(1);
        assertThat(none.of(Boards.builtIn().find("virtual-stm32f405"), ConsoleSpec.OF_BOARD, List.of()))
                .isEmpty();
    }

    private static DoctorSpec spec(String board) {
        return spec(board, Libc.NONE, false);
    }

    private static DoctorSpec spec(String board, Libc libc, boolean testsOnHost) {
        return new DoctorSpec(board(board), ConsoleSpec.OF_BOARD, libc, testsOnHost);
    }

    private static BoardSpec board(String id) {
        return new BoardSpec(id, Boards.builtIn(), Optional.empty());
    }
}
