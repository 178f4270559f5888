// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.device.emulator.ProgramWatch.EmulatedClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The time of machines that a monitor tells of which this test plays. */
class EmulatedClockTest {
    private static final long SECOND = 1_000_000_000;
    private static final long PAUSE = 30;

    @TempDir
    private Path folder;

    /**
     * What the monitor says at one look.
     *
     * @param lag what it says of the machine's clock
     * @param instructions executed so far
     */
    private record Look(String lag, long instructions) {
        static Look of(long lagMillis, long instructions) {
            return new Look("Host - Guest clock      " + lagMillis + " ms", instructions);
        }
    }

    @Test
    void aMachineThatFallsBehindHasNoTime() throws Exception {
        assertThat(elapsed(Look.of(20_000, 1000), Look.of(40_000, 2000), Look.of(60_000, 3000)))
                .isZero();
    }

    @Test
    void aMachineThatIsAheadHasMoreTime() throws Exception {
        assertThat(elapsed(Look.of(-5000, 1000), Look.of(-7000, 2000), Look.of(-9000, 3000)))
                .isBetween(9 * SECOND, 15 * SECOND);
    }

    /** Its own clock may stand still meanwhile. */
    @Test
    void forAMachineThatSleepsThisComputersTimeCounts() throws Exception {
        assertThat(elapsed(Look.of(20_000, 1000), Look.of(40_000, 1000), Look.of(60_000, 1000)))
                .isBetween(2 * PAUSE * 1_000_000, 6 * SECOND);
    }

    /** From where QEMU says nothing of its clock, and from where it ended. */
    @Test
    void forALostClockThisComputersTimeCounts() throws Exception {
        Look silent = new Look("no clock", 1000);
        assertThat(elapsed(silent, silent, silent)).isBetween(3 * PAUSE * 1_000_000, 6 * SECOND);
        assertThat(elapsed(Look.of(20_000, 1000))).isBetween(2 * PAUSE * 1_000_000, 6 * SECOND);
    }

    /** The time after three looks with pauses before them, at a monitor that ends after so many. */
    private long elapsed(Look... looks) throws Exception {
        Path socket = folder.resolve("monitor" + System.nanoTime());
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            Thread thread = new Thread(() -> serve(server, List.of(looks).iterator()));
            thread.start();
            long elapsed = 0;
            try (MachineMonitor monitor = MachineMonitor.connect(socket, Duration.ofSeconds(10))) {
                EmulatedClock clock = new EmulatedClock(monitor);
                for (int i = 0; i < 3; i++) {
                    Thread.sleep(PAUSE);
                    elapsed = clock.elapsed();
                }
            }
            thread.join();
            return elapsed;
        }
    }

    private static void serve(ServerSocketChannel server, Iterator<Look> looks) {
        try (SocketChannel channel = server.accept();
                BufferedReader requests = new BufferedReader(Channels.newReader(channel, StandardCharsets.US_ASCII))) {
            answer(channel, "{}");
            Look now = looks.next();
            for (String request = requests.readLine(); request != null; request = requests.readLine()) {
                if (request.contains("info jit")) {
                    answer(channel, "\"" + now.lag() + "\"");
                } else if (request.contains("query-replay")) {
                    answer(channel, "{\"icount\": " + now.instructions() + "}");
                    if (!looks.hasNext()) {
                        return;
                    }
                    now = looks.next();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void answer(SocketChannel channel, String answer) throws IOException {
        ByteBuffer line = ByteBuffer.wrap(("{\"return\": " + answer + "}\n").getBytes(StandardCharsets.US_ASCII));
        while (line.hasRemaining()) {
            channel.write(line);
        }
    }
}
