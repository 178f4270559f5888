// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.client.ScriptedBoard;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.FrameReader.Frames;
import io.kiln.device.transport.TcpTransport;
import io.kiln.flow.inspect.Doctor.PortCheck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is found at a port. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class PortCheckTest {
    private static final Duration SOON = Duration.ofMillis(100);
    private static final TransportTimeouts TIMEOUTS =
            new TransportTimeouts(SOON, SOON.multipliedBy(3), Duration.ofSeconds(5));

    @Test
    void anRpcServerIsRecognised() throws IOException {
        try (ScriptedBoard board = ScriptedBoard.rpc()) {
            assertThat(check(board, new TransportTimeouts(SOON, Duration.ofSeconds(20), Duration.ofSeconds(20))))
                    .isEqualTo("speaks RPC, version 0.8.0, in packets of up to 2037 bytes");
        }
    }

    @Test
    void theDefaultApplicationIsRecognised() throws IOException {
        byte[] models = {(byte) 0x81, 0, 1, 1, 1, 'm', 1, 1, 4, 0, 0, 0, 2, 0, 0, 0};
        byte[] info = Frames.encode(Bytes.copyOf(new byte[] {1}));
        try (ScriptedBoard board = ScriptedBoard.of(
                () -> "kiln: ready, m\n".getBytes(StandardCharsets.US_ASCII),
                bytes -> Bytes.copyOf(bytes).equals(Bytes.copyOf(info))
                        ? Frames.encode(Bytes.copyOf(models))
                        : new byte[0])) {
            assertThat(check(board, TIMEOUTS)).isEqualTo("speaks the console protocol, not RPC; models [m]");
        }
    }

    @Test
    void somethingElseIsNotTakenForEither() throws IOException {
        try (ScriptedBoard board =
                ScriptedBoard.of(() -> "login: ".getBytes(StandardCharsets.US_ASCII), bytes -> bytes)) {
            assertThat(check(board, new TransportTimeouts(SOON, SOON, SOON)))
                    .isEqualTo("nothing answers, neither to RPC nor to the console protocol");
        }
    }

    @Test
    void aFloodOfTextIsNotTakenForEither() throws IOException {
        byte[] flood = "\n".repeat(200_000).getBytes(StandardCharsets.US_ASCII);
        try (ScriptedBoard board = ScriptedBoard.of(() -> flood, bytes -> bytes)) {
            Duration enough = Duration.ofSeconds(5);
            assertThat(check(board, new TransportTimeouts(enough, enough, enough)))
                    .isEqualTo("nothing answers, neither to RPC nor to the console protocol");
        }
    }

    private static String check(ScriptedBoard board, TransportTimeouts timeouts) {
        return new PortCheck(() -> TcpTransport.open(board.port(), Duration.ofSeconds(10)), timeouts).verdict();
    }
}
