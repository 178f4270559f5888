// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.rpc.client.ScriptedBoard;
import io.kiln.device.transport.TcpTransport;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Models over RPC, as verification talks to them, on a real socket. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RpcProtocolTest {
    private static final Duration LIMIT = Duration.ofSeconds(50);
    private static final Protocol PROTOCOL = new RpcProtocol(LIMIT, List.of("absent", "m"));

    @Test
    void modelsAreListedAndRun() throws IOException {
        try (ScriptedBoard board = ScriptedBoard.rpc();
                TcpTransport line = TcpTransport.open(board.port(), LIMIT);
                ModelSession session = PROTOCOL.connect(line, text -> {})) {
            Model model = new Model("m", List.of(16), List.of(16));
            assertThat(session.models()).containsExactly(model);
            Bytes answer = session.run(0, model, List.of(Bytes.copyOf(new byte[] {
                        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1
                    })))
                    .get(0);
            assertThat(answer.toArray()).containsExactly(2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, -2);
            assertThatThrownBy(() -> session.run(0, model, List.of(Bytes.ofText("short"))))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("[16] bytes");
        }
    }

    /** The names of a model's functions are in lower case, whatever the model's own name is. */
    @Test
    void aModelWithCapitalsIsFound() throws IOException {
        try (ScriptedBoard board = ScriptedBoard.rpc();
                TcpTransport line = TcpTransport.open(board.port(), LIMIT);
                ModelSession session = new RpcProtocol(LIMIT, List.of("M")).connect(line, text -> {})) {
            assertThat(session.models()).containsExactly(new Model("M", List.of(16), List.of(16)));
        }
    }

    /** The next host gets the executor that the first one left behind when it was killed. */
    @Test
    void aHostThatComesBackGoesOn() throws IOException {
        try (ScriptedBoard board = ScriptedBoard.rpc()) {
            try (TcpTransport line = TcpTransport.open(board.port(), LIMIT)) {
                assertThat(PROTOCOL.connect(line, text -> {}).models()).hasSize(1);
            }
            try (TcpTransport line = TcpTransport.open(board.port(), LIMIT);
                    ModelSession session = PROTOCOL.connect(line, text -> {})) {
                assertThat(session.models()).hasSize(1);
            }
        }
    }

    @Test
    void aPortOfAnotherComputerIsRefused() {
        assertThat(TcpTransport.port("/dev/ttyACM0")).isEmpty();
        assertThat(TcpTransport.port("tcp:1234")).contains(1234);
        assertThat(TcpTransport.port("tcp:127.0.0.1:99")).contains(99);
        for (String bad : List.of("tcp:10.0.0.1:99", "tcp:70000", "tcp:", "tcp:localhost.example:1")) {
            assertThatThrownBy(() -> TcpTransport.port(bad)).isInstanceOf(KilnException.class);
        }
    }
}
