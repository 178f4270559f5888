// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.KeptLog;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.device.probe.Faults;
import io.kiln.device.probe.VirtualProbe;
import io.kiln.device.probe.VirtualProbe.VirtualChip;
import io.kiln.firmware.OwnParts;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.ImageSpec.CodeSpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.report.DebugLaunch;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The set-up for debuggers, tried with the real ones. */
final class DebugStepTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    private BuildSpec spec(String board) {
        return new GestureProject(folder)
                .spec(board)
                .verify(GestureProject.UNVERIFIED)
                .build();
    }

    @Test
    void debuggersFindTheirSetUp() throws IOException {
        TestOpenOcd.get();
        flow.debug(spec("stm32f405"), "openocd", Optional.of("A 1;shutdown"));
        Path debug = folder.resolve("out/kiln/debug");
        assertThat(Files.readString(debug.resolve("launch.json")))
                .contains("\"servertype\" : \"openocd\"", "\"servertype\" : \"external\"", "gesture.elf")
                .contains("stm32f405 (probe)", "stm32f405 (QEMU)")
                .contains("${workspaceFolder}/out/")
                .doesNotContain(folder.toString());
        assertThat(debug.resolve("tasks.json"))
                .content()
                .contains("${workspaceFolder}/out/", "exec qemu-system-arm -M ")
                .doesNotContain(folder.toString());
        assertThat(debug.resolve("probe.gdb")).content().contains("load\n");
        assertThat(debug.resolve("qemu.gdb")).content().contains("target extended-remote 127.0.0.1:3333");
        assertThat(said)
                .anyMatch(line -> line.contains("qemu-system-arm") && line.contains("-S -gdb tcp:127.0.0.1:3333"));
        Command readIt = Command.of(
                "openocd", "-f", debug.resolve("openocd.cfg").toString(), "-c", "echo @@read", "-c", "shutdown");
        ProcessResult answer = ProcessRunner.run(readIt);
        assertThat(answer.message()).contains("@@read");
        assertThat(answer.exitCode()).isZero();
    }

    /** What a pack says of the peripherals is there for the editor. */
    @Test
    void theEditorShowsTheRegistersOfADevice() throws IOException {
        Path mine = Files.createDirectories(folder.resolve("src/main/boards/mine"));
        Files.writeString(mine.resolve("board.yaml"), """
                schema: 1
                id: mine
                device: {pack: "PACK", name: PLN446RETx}
                flash: {openocd: {interface: interface/cmsis-dap.cfg, target: target/stm32f4x.cfg}}
                """.replace(
                        "PACK",
                        Path.of("src/test/resources/packs/made-up")
                                .toAbsolutePath()
                                .toString()
                                .replace('\\', '/')));
        flow.debug(spec("mine"), "openocd", Optional.empty());
        Path debug = folder.resolve("out/kiln/debug");
        assertThat(Files.readString(debug.resolve("launch.json")))
                .contains("\"svdFile\" : \"${workspaceFolder}/out/kiln/debug/device.svd\"");
        assertThat(debug.resolve("device.svd")).content().contains("<name>PLAIN</name>");
        assertThat(folder.resolve("out/firmware/board/device.svd")).doesNotExist();
    }

    /** The command that a goal said to start the server with, and its scripts, on a port that is free. */
    private RunningProcess server(String program, int port) {
        String line = said.stream()
                .filter(each -> each.startsWith("  ") && each.contains(program))
                .findFirst()
                .orElseThrow()
                .replace(":3333", ":" + port);
        return ProcessRunner.start(Command.of("sh", "-c", "exec" + line).within(Duration.ofMinutes(1)));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private String gdb(List<String> script, int port) throws IOException {
        Path file = folder.resolve("debug.gdb");
        Files.write(
                file,
                script.stream().map(line -> line.replace(":3333", ":" + port)).toList());
        List<String> arguments = List.of(
                "-nx",
                "-batch",
                "-x",
                file.toString(),
                folder.resolve("out/gesture.elf").toString());
        ProcessResult result =
                ProcessRunner.run(Command.of("gdb-multiarch", arguments).within(Duration.ofMinutes(1)));
        return result.message() + result.output();
    }

    @Test
    void theDebuggerStopsInMainOfTheImageInQemu() throws IOException {
        TestPrograms.need("gdb-multiarch");
        flow.debug(spec("stm32f405"), "openocd", Optional.empty());
        int port = freePort();
        List<String> script = Files.readAllLines(folder.resolve("out/kiln/debug/qemu.gdb"));
        // As Visual Studio Code starts it: the task that the launch configuration names.
        JsonNode launch = new GestureProject(folder).json("kiln/debug/launch.json");
        JsonNode task = new GestureProject(folder)
                .json("kiln/debug/tasks.json")
                .path("tasks")
                .path(0);
        assertThat(launch.findValuesAsText("preLaunchTask"))
                .containsExactly(task.path("label").asText());
        List<String> words = new ArrayList<>(List.of(task.path("command").asText()));
        task.path("args")
                .forEach(word -> words.add(word.asText()
                        .replace(":3333", ":" + port)
                        .replace(DebugLaunch.WORKSPACE, folder.toAbsolutePath().toString())));
        try (RunningProcess qemu = ProcessRunner.start(Command.ofLine(words).within(Duration.ofMinutes(1)))) {
            assertThat(gdb(script, port)).containsPattern("Temporary breakpoint 1, .*main \\(");
            String ready = task.path("problemMatcher")
                    .path("background")
                    .path("endsPattern")
                    .asText();
            assertThat(new String(qemu.output().readNBytes(ready.length()), StandardCharsets.UTF_8))
                    .isEqualTo(ready);
        }
    }

    /** The program's own code alone is compiled for the debugger; names lead to the project's files by what CLion's configuration maps. */
    @Test
    void aBreakpointInALoopIsHitInEachTurn() throws IOException {
        TestPrograms.need("gdb-multiarch");
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(folder.resolve("src/main/c/main.c"), """
            #include <stdint.h>

            int8_t readings[4] = {3, 1, 4, 1};
            int8_t input[4];

            int main(void) {
              int sum = 0;
              for (int i = 0; i < 4; i++) {
                input[i] = (int8_t)(readings[i] - 1);
                sum += readings[i];
              }
              *(volatile int*)0xd0000000 = sum;
              return 0;
            }
            """);
        Path mine = Files.createDirectories(folder.resolve("src/main/boards/mine"));
        Files.writeString(
                mine.resolve("board.yaml"),
                "schema: 1\nid: mine\ntitle: Mine\nextends: stm32f405\nflash: {openocd: {interface: interface/stlink.cfg, target: mine.cfg}}\n");
        Files.writeString(mine.resolve("mine.cfg"), "echo {@@ mine}\nsource [find target/stm32f4x.cfg]\n");
        String registers = "<device>" + " ".repeat(2 << 20) + "</device>";
        Files.writeString(mine.resolve("mine.svd"), registers);
        CodeFlags flags = new CodeFlags(List.of(), List.of(), Libc.NONE, true);
        flow.debug(
                new GestureProject(folder)
                        .spec("mine")
                        .code(new CodeSpec(List.of(), List.of(), flags, List.of(), OwnParts.NONE))
                        .verify(GestureProject.UNVERIFIED)
                        .build(),
                "openocd",
                Optional.empty());
        String commands = new GestureProject(folder).text("firmware/compile_commands.json");
        assertThat(commands).contains("-Og", "-g3", "-O3").doesNotContain("-O2 -std=c11");

        Path debug = folder.resolve("out/kiln/debug");
        assertThat(debug.resolve("launch.json"))
                .content()
                .contains("\"svdFile\" : \"${workspaceFolder}/out/kiln/debug/mine.svd\"")
                .doesNotContain(folder.toString());
        assertThat(debug.resolve("mine.svd")).hasContent(registers);
        assertThat(debug.resolve("kiln-qemu.run.xml"))
                .content()
                .contains("symbolFile=\"$PROJECT_DIR$/out/gesture.elf\"", "remoteCommand=\"127.0.0.1:3333\"")
                .doesNotContain(folder.toString());
        assertThat(debug.resolve("openocd.cfg")).content().doesNotContain(folder.toString());
        TestOpenOcd.get();
        assertThat(ProcessRunner.run(Command.of(
                                "openocd", "-f", debug.resolve("openocd.cfg").toString(), "-c", "shutdown"))
                        .message())
                .contains("@@ mine");

        int port = freePort();
        List<String> script = new ArrayList<>(List.of(
                "set substitute-path . " + folder.toRealPath(),
                "target extended-remote 127.0.0.1:3333",
                "break " + folder.toRealPath().resolve("src/main/c/main.c") + ":9"));
        for (int turn = 0; turn < 4; turn++) {
            script.addAll(List.of("continue", "print i"));
        }
        script.addAll(List.of("delete", "break *kiln_fault", "continue", "info line *pc", "print/x *(int*)0xE000ED38"));
        try (RunningProcess qemu = server("qemu-system-arm", port)) {
            assertThat(qemu.isAlive()).isTrue();
            assertThat(gdb(script, port))
                    .containsPattern("Line 1[12] of \".*main.c\"")
                    .contains("= 0xd0000000")
                    .contains("$1 = 0", "$2 = 1", "$3 = 2", "$4 = 3");
        }
    }

    @Test
    void theDebuggerLoadsTheImageThroughTheProbe() throws IOException {
        TestPrograms.need("gdb-multiarch");
        TestOpenOcd.get();
        VirtualChip chip = VirtualChip.erased();
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.none())) {
            flow.debug(spec("stm32f405"), "openocd", Optional.of("tcp:127.0.0.1:" + probe.port()));
            int port = freePort();
            // The virtual core runs nothing from flash, so the way ends before the program begins.
            List<String> script = new ArrayList<>(Files.readAllLines(folder.resolve("out/kiln/debug/probe.gdb")));
            script.removeIf(line -> line.startsWith("tbreak") || line.startsWith("continue"));
            assertThat(script).contains("load").endsWith("monitor reset halt");
            script.addAll(List.of("compare-sections", "kill"));
            Path config = folder.resolve("out/kiln/debug/openocd.cfg");
            Files.writeString(
                    config,
                    "\ngdb_port " + port + "\ntelnet_port disabled\ntcl_port disabled\n",
                    StandardOpenOption.APPEND);
            try (RunningProcess openOcd = server("openocd", port)) {
                assertThat(openOcd.isAlive()).isTrue();
                assertThat(gdb(script, port)).contains("matched").doesNotContain("MIS-MATCHED");
            }
        }
        byte[] image = Files.readAllBytes(folder.resolve("out/gesture.bin"));
        assertThat(Arrays.copyOf(chip.flash().bytes().toArray(), image.length)).isEqualTo(image);
    }
}
