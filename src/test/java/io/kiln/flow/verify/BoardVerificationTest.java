// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.flow.BoardFlow;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.DeviceSpec.MonitorSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Verification on boards: a virtual one, and one at the other end of a serial line, which is QEMU behind a pseudo-terminal that is
 * opened as any serial port is.
 */
final class BoardVerificationTest {
    private static final String GREETING = "21 °C, grüße, 5 €, \uD83D\uDE80";

    @TempDir
    private static Path folder;

    private static final KeptLog LOG = new KeptLog();
    private static final List<String> SAID = LOG.said();

    private static Flow flow;

    /** A project with a main of its own is built and verified on the virtual board, once for all tests. */
    @BeforeAll
    static void built() throws IOException {
        TestOpenOcd.get();
        TestPrograms.need("qemu-system-arm");
        Path main = folder.resolve("src/main/c/main.c");
        Files.createDirectories(main.getParent());
        Files.writeString(main, String.format(Locale.ROOT, """
            #include "kiln_console.h"

            int main(void) {
              static const char text[] = "%s\\n";
              for (unsigned int i = 0;; i = (i + 1) %% (sizeof text - 1)) {
                kiln_console_put((uint8_t)text[i]);
                for (volatile unsigned int pause = 0; pause < 20000u; pause++) {
                }
              }
            }
            """, GREETING));
        flow = new Flow(LOG, TestToolchains.environment(LOG));
        flow.build(spec("virtual-stm32f405"), device(FlashSpec.USUAL, true, ""));
    }

    private static BuildSpec spec(String board) {
        return new GestureProject(folder)
                .spec(board)
                .verify(new VerifySpec(VerifyOn.BOARD, Optional.empty(), 2, 0))
                .build();
    }

    private static DeviceSpec device(FlashSpec flash, boolean isFlashed, String port) {
        Optional<String> named = Optional.of(port).filter(text -> !text.isEmpty());
        return new DeviceSpec(flash, isFlashed, new ConsoleSpec(named, Optional.empty(), Optional.empty()));
    }

    private static FlashSpec probe(String probe) {
        return SpecDraft.flash(Optional.of(probe), FlashSpec.Content.WHOLE);
    }

    /** The image that answers: the project's objects with the default application. */
    private static Path answering() {
        return folder.resolve("out/kiln/verify-image/image.elf");
    }

    /** A board that runs an image; standard input is QEMU's monitor. */
    private static RunningProcess board(Path image, String... more) {
        List<String> arguments = new ArrayList<>(List.of("-M", "netduinoplus2", "-display", "none", "-serial", "pty"));
        arguments.addAll(List.of("-nic", "none", "-monitor", "stdio", "-kernel", image.toString()));
        arguments.addAll(List.of(more));
        return ProcessRunner.start(Command.of("qemu-system-arm", arguments).within(Duration.ofMinutes(1)));
    }

    private static String terminal(RunningProcess qemu) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(qemu.output(), StandardCharsets.UTF_8));
        String line = lines.readLine();
        while (!line.contains("/dev/pts/")) {
            line = lines.readLine();
        }
        return line.replaceFirst(".*(/dev/pts/[0-9]+).*", "$1");
    }

    private static String report() throws IOException {
        String json = Files.readString(folder.resolve("out/kiln/verify.json"));
        JsonSchemas.assertFits("verify", json);
        return json;
    }

    @Test
    void theVirtualBoardIsFlashedAndItsFlashIsWhatRuns() throws IOException {
        flow.verify(spec("virtual-stm32f405"), device(FlashSpec.USUAL, true, ""));
        assertThat(report())
                .contains("\"ranOn\" : \"virtual-stm32f405, probe virtual: its flash content in qemu-system-arm"
                        + " netduinoplus2\"")
                .contains("\"bitExact\" : true");
        assertThat(SAID)
                .contains("Verification on the board flashes it first (kiln.flash.skip prevents that)")
                .anyMatch(line -> line.startsWith("virtual: holds this image already"))
                .anyMatch(line -> line.startsWith("Bit-exact on virtual-stm32f405, probe virtual"));
    }

    @Test
    void whatTheFlashHoldsIsVerifiedAndNotWhatWasBuilt() throws IOException {
        Path held = folder.resolve("out/kiln/virtual/other.bin");
        byte[] erased = new byte[1 << 20];
        Arrays.fill(erased, (byte) 0xff);
        Files.write(held, erased);
        assertThatThrownBy(() -> flow.verify(spec("virtual-stm32f405"), device(probe("other"), false, "")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("qemu-system-arm netduinoplus2");
        assertThat(SAID).contains("Verification does not flash the board: kiln.flash.skip is set");
        Files.copy(folder.resolve("out/kiln/virtual/virtual.bin"), folder.resolve("out/kiln/virtual/copy.bin"));
        flow.verify(spec("virtual-stm32f405"), device(probe("copy"), false, ""));
        assertThat(report()).contains("probe copy");
        assertThatThrownBy(() -> flow.verify(spec("virtual-stm32f405"), device(probe("never"), false, "")))
                .hasMessageContaining("the virtual board 'never' has not been flashed yet");
    }

    @Test
    void aBoardThatRunsAlreadyAnswersOverItsSerialLine() throws IOException {
        try (RunningProcess qemu = board(answering())) {
            String port = terminal(qemu);
            flow.verify(spec("stm32f405"), device(FlashSpec.USUAL, false, port));
            assertThat(report())
                    .contains("\"ranOn\" : \"stm32f405, console " + port + "\"")
                    .contains("\"bitExact\" : true");
        }
    }

    @Test
    void aBoardThatBootsLaterIsWaitedFor() throws IOException {
        try (RunningProcess qemu = board(answering(), "-S")) {
            String port = terminal(qemu);
            CompletableFuture<Void> start =
                    CompletableFuture.runAsync(() -> go(qemu), CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
            flow.verify(spec("stm32f405"), device(FlashSpec.USUAL, false, port));
            start.join();
            assertThat(folder.resolve("out/kiln/verify.log")).content().contains("kiln: ready");
        }
    }

    private static void go(RunningProcess qemu) {
        try {
            qemu.input().write("cont\n".getBytes(StandardCharsets.US_ASCII));
            qemu.input().flush();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aSilentBoardIsGivenUp() throws IOException {
        try (RunningProcess qemu = board(answering(), "-S")) {
            String port = terminal(qemu);
            assertThatThrownBy(() -> flow.verify(spec("stm32f405"), device(FlashSpec.USUAL, false, port)))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(port + " at 115200 baud: the board sends nothing")
                    .hasMessageContaining("console.baud");
        }
    }

    @Test
    void anotherProgramIsToldWithWhatItPrinted() throws IOException {
        try (RunningProcess qemu = board(folder.resolve("out/gesture.elf"))) {
            String port = terminal(qemu);
            assertThatThrownBy(() -> flow.verify(spec("stm32f405"), device(FlashSpec.USUAL, false, port)))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("is not Kiln's default application")
                    .hasMessageContaining(GREETING)
                    .hasMessageContaining("kiln.flash.skip");
        }
    }

    @Test
    void theMonitorShowsWholeCharactersThoughTheyComeInPieces() throws IOException {
        try (RunningProcess qemu = board(folder.resolve("out/gesture.elf"))) {
            ConsoleSpec console = new ConsoleSpec(Optional.of(terminal(qemu)), Optional.empty(), Optional.empty());
            new BoardFlow(LOG, TestToolchains.environment(LOG))
                    .monitor(
                            spec("stm32f405").boards().find("stm32f405"),
                            folder.resolve("out/gesture.elf"),
                            new MonitorSpec(console, Optional.of("1s"), Duration.ofSeconds(1)));
        }
        List<String> lines = SAID.stream().filter(line -> line.startsWith("| ")).toList();
        assertThat(lines).hasSizeGreaterThan(10);
        assertThat(lines.subList(1, lines.size() - 1)).containsOnly("| " + GREETING);
    }

    @Test
    void whatKeepsABoardFromBeingVerifiedIsSaidBeforeItIsFlashed() {
        assertThatThrownBy(() -> flow.verify(spec("mps2-an386"), DeviceSpec.USUAL))
                .hasMessageContaining("the board mps2-an386 has no flash runner")
                .hasMessageContaining("kiln.verify.on=emulator");
        assertThatThrownBy(() -> flow.verify(spec("virtual-stm32f405"), device(probe("a,b"), true, "")))
                .hasMessageContaining("verification runs on one board");
        assertThatThrownBy(() -> flow.verify(spec("nucleo-f446re"), DeviceSpec.USUAL))
                .hasMessageContaining("no serial port has the USB ids 0483:374b");
        assertThatThrownBy(() -> flow.verify(spec("stm32f405"), DeviceSpec.USUAL))
                .hasMessageContaining("has no USB ids of its console")
                .hasMessageContaining("kiln.monitor.port");
        assertThatThrownBy(() -> flow.verify(spec("stm32f405"), device(FlashSpec.USUAL, true, "/dev/ttyNobody7")))
                .hasMessageContaining("/dev/ttyNobody7");
    }
}
