// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.MonitorSpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Boards;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class MonitorStepTest {
    private static final Path NO_IMAGE = Path.of("no-image.elf");
    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();

    /** QEMU makes a pseudo-terminal and greets whoever opens it. */
    private static RunningProcess qemu() {
        TestPrograms.need("qemu-system-arm");
        return ProcessRunner.start(Command.of(
                        "qemu-system-arm",
                        "-M",
                        "none",
                        "-nic",
                        "none",
                        "-display",
                        "none",
                        "-chardev",
                        "pty,id=line",
                        "-mon",
                        "line")
                .within(Duration.ofMinutes(1)));
    }

    private static String terminal(RunningProcess qemu) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(qemu.output(), StandardCharsets.UTF_8));
        String line = lines.readLine();
        assertThat(line).contains("/dev/pts/");
        return line.replaceFirst(".*(/dev/pts/[0-9]+).*", "$1");
    }

    private void monitor(String port, String until, Duration limit) {
        MonitorSpec spec = new MonitorSpec(
                new ConsoleSpec(Optional.of(port), Optional.empty(), Optional.empty()), Optional.of(until), limit);
        new MonitorStep(log, Boards.builtIn().find("stm32f405"), NO_IMAGE, spec).run();
    }

    @Test
    void aTextThatComesEndsIt() throws IOException {
        try (RunningProcess qemu = qemu()) {
            monitor(terminal(qemu), "type 'help'", Duration.ofSeconds(20));
        }
        assertThat(said).anyMatch(line -> line.startsWith("| QEMU"));
        assertThat(said.get(0)).contains("stm32f405").contains("115200");
    }

    @Test
    void aTextThatDoesNotComeFails() throws IOException {
        try (RunningProcess qemu = qemu()) {
            String port = terminal(qemu);
            assertThatThrownBy(() -> monitor(port, "good morning", Duration.ofSeconds(1)))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("'good morning' did not appear within 1 s");
            monitor(port, "200ms", Duration.ofSeconds(1));
        }
    }

    /** Such as an emulator whose serial port is a socket. */
    @Test
    void aPortOfThisComputerIsALineToo() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread board = new Thread(() -> greetTwice(listener));
            board.start();
            String port = "tcp:127.0.0.1:" + listener.getLocalPort();
            monitor(port, "ready", Duration.ofSeconds(20));
            assertThat(said).containsExactly("Console of stm32f405 on " + port, "| booting", "| ready", "'ready' came");
            assertThatThrownBy(() -> monitor(port, "steady", Duration.ofSeconds(20)))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(port)
                    .hasMessageContaining("the line was closed at its other end");
        }
        assertThatThrownBy(() -> monitor("tcp:192.0.2.1:80", "1s", Duration.ofSeconds(1)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("cannot be a TCP port of this computer");
    }

    private static void greetTwice(ServerSocket listener) {
        for (int i = 0; i < 2; i++) {
            try (Socket line = listener.accept()) {
                line.getOutputStream().write("booting\r\nready\r\n".getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void aPortThatIsNotThere() {
        assertThatThrownBy(() -> monitor("/dev/ttyNobody7", "1s", Duration.ofSeconds(1)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("/dev/ttyNobody7");
    }

    @Test
    void untilIsATimeOrAText() {
        assertThat(spec("90s").time()).contains(Duration.ofSeconds(90));
        assertThat(spec("2m").time()).contains(Duration.ofMinutes(2));
        assertThat(spec("ready 5s").time()).isEmpty();
        assertThat(spec("ready 5s").text()).contains("ready 5s");
        assertThat(spec("5ms").text()).isEmpty();
        assertThatThrownBy(() -> spec("").text()).hasMessageContaining("kiln.monitor.until");
    }

    private static MonitorSpec spec(String until) {
        return new MonitorSpec(ConsoleSpec.OF_BOARD, Optional.of(until), Duration.ofSeconds(1));
    }
}
