// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.OpenOcdRunner.Flasher;
import io.kiln.device.flash.OpenOcdRunner.OpenOcd;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Flashing;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real OpenOCD and what it does without any hardware. */
final class FlasherTest {
    private static final String CHIP = "target/stm32f4x.cfg";
    private static final long FAUX_BASE = 0x01000000;

    @TempDir
    Path folder;

    private OpenOcd openOcd;

    @BeforeEach
    void openOcdIsThere() {
        openOcd = TestOpenOcd.get();
    }

    private FlashTarget target(String interfaceConfig, String chip, Probe probe) {
        return new FlashTarget(
                new Flashing.OpenOcd(interfaceConfig, chip, Optional.empty(), 0), List.of(folder), probe);
    }

    private static FlashImage image(long address, int size) {
        byte[] content = new byte[size];
        for (int i = 0; i < size; i++) {
            content[i] = (byte) (i * 7);
        }
        return FlashImage.of(List.of(new FlashImage.Segment(address, Bytes.wrap(content))));
    }

    private FlashFailure failure(FlashTarget target, FlashImage image, Duration limit) {
        Path log = folder.resolve("flash.log");
        FlashResult result =
                new Flasher(openOcd, limit, true, Optional.of(log)).flash(target, image, FlashProgress.QUIET);
        assertThat(result.verdict()).isEqualTo("failed");
        assertThat(log).exists();
        return result.failure().orElseThrow();
    }

    private FlashFailure failure(FlashTarget target) {
        return failure(target, image(0x08000000, 5000), Duration.ofSeconds(30));
    }

    @Test
    void scriptsAreLookedForWhereOpenOcdLooks() {
        assertThat(openOcd.version()).contains("Open On-Chip Debugger");
        assertThat(openOcd.missing(
                        List.of("interface/stlink.cfg", CHIP, "target/stm32z9.cfg", "interface/a b.cfg"), List.of()))
                .containsExactlyInAnyOrder("target/stm32z9.cfg", "interface/a b.cfg");
    }

    @Test
    void missingScript() {
        FlashFailure failure = failure(target("interface/dummy.cfg", "target/stm32z9.cfg", new Probe.Any()));
        assertThat(failure.kind()).isEqualTo(Kind.SCRIPT_MISSING);
        assertThat(failure.text()).contains("target/stm32z9.cfg");
        assertThat(failure.begun()).isFalse();
    }

    @Test
    void noProbe() {
        List<FlashTarget> targets = List.of(
                target("interface/cmsis-dap.cfg", CHIP, new Probe.Any()),
                target("interface/cmsis-dap.cfg", CHIP, new Probe.Serial("nobody; shutdown")),
                target("interface/stlink.cfg", CHIP, new Probe.Serial("123")),
                target("interface/jlink.cfg", CHIP, new Probe.Serial("123456")));
        for (FlashTarget each : targets) {
            FlashFailure failure = failure(each);
            assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.NO_PROBE);
        }
    }

    @Test
    void noTarget() {
        assertThat(failure(target("interface/dummy.cfg", CHIP, new Probe.Any())).kind())
                .isEqualTo(Kind.NO_TARGET);
    }

    @Test
    void nobodyListens() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        assertThat(failure(target("none.cfg", CHIP, new Probe.Remote("127.0.0.1", port)))
                        .kind())
                .isEqualTo(Kind.NO_PROBE);
    }

    @Test
    @Timeout(20)
    void silenceIsKilledAtTheTimeLimit() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            FlashFailure failure = failure(
                    target("none.cfg", CHIP, new Probe.Remote("127.0.0.1", socket.getLocalPort())),
                    image(0x08000000, 100),
                    Duration.ofSeconds(1));
            assertThat(failure.kind()).isEqualTo(Kind.TIME_OUT);
            assertThat(failure.text()).contains("after 1 s");
        }
        assertThat(TestPrograms.left()).isEmpty();
    }

    @Test
    void droppedConnection() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread server = new Thread(() -> readSomeAndHangUp(socket), "hang-up");
            server.start();
            FlashFailure failure =
                    failure(target("none.cfg", CHIP, new Probe.Remote("127.0.0.1", socket.getLocalPort())));
            assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.PROBE_LOST);
        }
    }

    private static void readSomeAndHangUp(ServerSocket socket) {
        try (Socket peer = socket.accept()) {
            peer.getInputStream().readNBytes(8);
        } catch (IOException e) {
            // The test is over.
            return;
        }
    }

    /** A chip of OpenOCD's own whose flash is a file in memory: it takes writes, and cannot be read. */
    private FlashTarget faux() throws IOException {
        Files.writeString(folder.resolve("faux.cfg"), """
            adapter speed 100
            jtag newtap x cpu -irlen 4 -ignore-version
            target create x.cpu testee -chain-position x.cpu
            flash bank x.flash faux 0x01000000 0x20000 2 2 x.cpu
            """);
        return target("interface/dummy.cfg", "faux.cfg", new Probe.Any());
    }

    /** A script that opens every kind of port and turns the log away, before and after it connects by itself. */
    @Test
    void nothingListensWhateverTheScriptsSay() throws IOException {
        List<Integer> ports = List.of(freePort(), freePort(), freePort(), freePort(), freePort());
        Path elsewhere = folder.resolve("elsewhere.log");
        Files.writeString(
                folder.resolve("open.cfg"),
                String.format(
                        Locale.ROOT,
                        """
                        source [find faux.cfg]
                        gdb_port %d
                        telnet_port %d
                        tcl_port %d
                        bindto 0.0.0.0
                        x.cpu configure -gdb-port %d
                        rtt server start %d 0
                        log_output %s
                        init
                        catch {gdb_port 3333}
                        """,
                        ports.get(0),
                        ports.get(1),
                        ports.get(2),
                        ports.get(3),
                        ports.get(4),
                        elsewhere));
        faux();
        List<Integer> open = new ArrayList<>();
        FlashProgress looking = new FlashProgress() {
            @Override
            public void erasing() {
                ports.stream().filter(FlasherTest::listens).forEach(open::add);
            }

            @Override
            public void written(long bytes) {
                erasing();
            }

            @Override
            public void verifying() {}
        };
        Path log = folder.resolve("flash.log");
        new Flasher(openOcd, Duration.ofSeconds(30), true, Optional.of(log))
                .flash(target("interface/dummy.cfg", "open.cfg", new Probe.Any()), image(FAUX_BASE, 20_000), looking);
        assertThat(open).isEmpty();
        assertThat(log)
                .content()
                .contains("@@kiln left-out gdb_port", "@@kiln left-out {rtt server start}", "@@kiln written 20000")
                .doesNotContain("Listening on port");
        assertThat(elsewhere).doesNotExist();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static boolean listens(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void imageOutsideFlashIsRefusedBeforeAnythingIsErased() throws IOException {
        FlashFailure failure = failure(faux(), image(FAUX_BASE + 0x1ff00, 0x200), Duration.ofSeconds(30));
        assertThat(failure.kind()).isEqualTo(Kind.OUTSIDE_FLASH);
        assertThat(failure.address()).hasValue(FAUX_BASE + 0x1ff00);
        assertThat(failure.begun()).isFalse();
    }

    /** Everything was written and OpenOCD could not read it back: that is no success, whatever was said before. */
    @Test
    void whatCannotBeReadBackIsNotFlashed() throws IOException {
        List<Long> steps = new ArrayList<>();
        FlashProgress progress = new FlashProgress() {
            @Override
            public void erasing() {
                steps.add(-1L);
            }

            @Override
            public void written(long bytes) {
                steps.add(bytes);
            }

            @Override
            public void verifying() {
                steps.add(-2L);
            }
        };
        FlashResult result = new Flasher(openOcd, Duration.ofSeconds(30), true, Optional.empty())
                .flash(faux(), image(FAUX_BASE, 40_000), progress);
        assertThat(steps).containsExactly(-1L, 16384L, 32768L, 40000L, -2L);
        assertThat(result.failure()).isPresent();
        assertThat(result.failure().get().begun()).isTrue();
        assertThat(result.failure().get().text()).contains("checksum_memory").contains("not bootable");
    }

    @Test
    void interruptionSaysSo() throws Exception {
        List<FlashResult> results = new ArrayList<>();
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            FlashTarget target = target("none.cfg", CHIP, new Probe.Remote("127.0.0.1", socket.getLocalPort()));
            Thread build = new Thread(
                    () -> results.add(new Flasher(openOcd, Duration.ofMinutes(1), true, Optional.empty())
                            .flash(target, image(0x08000000, 100), FlashProgress.QUIET)),
                    "build");
            build.start();
            socket.accept();
            build.interrupt();
            build.join(20_000);
        }
        assertThat(results).hasSize(1);
        assertThat(results.get(0).failure().orElseThrow().kind()).isEqualTo(Kind.INTERRUPTED);
        assertThat(TestPrograms.left()).isEmpty();
    }
}
