// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.device.rpc.packet.DataType;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.rpc.packet.RpcValue;
import io.kiln.device.transport.SessionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A host against a server that was written from the protocol's description alone. */
class RpcClientTest {
    private static final DataType INT8 = DataType.of(DType.INT8);
    private static final double LINE_SHARE = 0.85;
    private static final int MOST_BYTES_OF_A_CALL = 150;

    @Test
    void tensorsAreWrittenCalledWithAndRead() {
        RpcClient client = new ScriptedLine().connect();
        RemoteTensor in = client.allocate(INT8, 1, 16);
        RemoteTensor out = client.allocate(INT8, 16);
        in.upload(counting(16));
        assertThat(client.systemLibrary()
                        .require("double_it")
                        .call(in.value(), out.value())
                        .isNull())
                .isTrue();
        assertThat(out.download().toArray()).containsExactly(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        out.copyTo(in);
        assertThat(in.download()).isEqualTo(out.download());
        in.close();
        out.close();
    }

    /** What is set grows in an emulator only, and so does what is not; an answer whose limit nobody set has that of what is asked. */
    @Test
    void limitsAreThoseThatAreSet() {
        Duration day = Duration.ofDays(1);
        SessionLimits set = new SessionLimits(Optional.of(Duration.ofSeconds(40)), Optional.of(Duration.ofSeconds(3)));
        assertThat(TransportTimeouts.of(set, false, day))
                .isEqualTo(new TransportTimeouts(
                        TransportTimeouts.SERIAL.sessionStartRetry(), Duration.ofSeconds(40), Duration.ofSeconds(3)));
        assertThat(TransportTimeouts.of(SessionLimits.USUAL, false, day))
                .isEqualTo(TransportTimeouts.SERIAL.withReplies(day));
        assertThat(TransportTimeouts.of(SessionLimits.USUAL, false)).isEqualTo(TransportTimeouts.SERIAL);
        assertThat(TransportTimeouts.of(SessionLimits.USUAL, true, day).sessionEstablished())
                .isEqualTo(day);
        for (TransportTimeouts emulated :
                List.of(TransportTimeouts.of(set, true, day), TransportTimeouts.of(SessionLimits.USUAL, true))) {
            long factor = emulated.sessionStartRetry().dividedBy(TransportTimeouts.EMULATOR.sessionStartRetry());
            assertThat(factor).isBetween(1L, 12L);
            assertThat(List.of(emulated.sessionStart(), emulated.sessionEstablished()))
                    .isIn(
                            List.of(Duration.ofSeconds(40 * factor), Duration.ofSeconds(3 * factor)),
                            List.of(Duration.ofSeconds(10 * factor), Duration.ofSeconds(10 * factor)));
        }
    }

    @Test
    void functionsTakeAndReturnNumbers() {
        RpcClient client = new ScriptedLine().connect();
        RemoteFunction sum = client.systemLibrary().require("sum");
        assertThat(sum.call(new RpcValue.Int(40), new RpcValue.Int(-3), new RpcValue.Int(5))
                        .integer())
                .isEqualTo(42);
        assertThatThrownBy(() -> sum.call().text())
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("STR");
    }

    @Test
    void whatAFunctionReportsIsTheErrorAndTheSessionGoesOn() {
        RpcClient client = new ScriptedLine().connect();
        RemoteModule library = client.systemLibrary();
        RemoteFunction fails = library.require("fails");
        assertThatThrownBy(fails::call)
                .satisfies(e -> assertThat(((RpcException) e).kind()).isEqualTo(Kind.REMOTE))
                .hasMessageContaining("the board reported: tvmgen_default_fails: num_args should be 3");
        assertThat(library.require("sum").call(new RpcValue.Int(1)).integer()).isEqualTo(1);
    }

    @Test
    void aFunctionThatIsNotThereIsEmpty() {
        RpcClient client = new ScriptedLine().connect();
        assertThat(client.function("tvm.graph_executor.create")).isEmpty();
        assertThat(client.systemLibrary().function("nothing")).isEmpty();
    }

    @Test
    void aModelIsDrivenByTheExecutor() {
        RpcClient client = new ScriptedLine().connect();
        RemoteModule library = client.systemLibrary();
        try (AotExecutor executor = AotExecutor.create(client, library, "m")) {
            assertThat(executor.inputs()).hasSize(1);
            assertThat(executor.inputName(0)).isEqualTo("x");
            assertThat(executor.inputs().get(0).value().shape()).containsExactly(4L, 4L);
            assertThat(executor.run(List.of(counting(16))).get(0).toArray())
                    .startsWith(0, 2, 4)
                    .hasSize(16);
        }
        AotExecutor.create(client, library, "m").close();
    }

    @Test
    void anExecutorThatAHostLeftBehindIsFreed() {
        ScriptedLine line = new ScriptedLine();
        RpcClient killed = line.connect();
        AotExecutor.create(killed, killed.systemLibrary(), "m");
        RpcClient next = line.connect();
        assertThat(AotExecutor.create(next, next.systemLibrary(), "m").outputs())
                .hasSize(1);
    }

    @Test
    void theBoardMeasures() {
        RpcClient client = new ScriptedLine().connect();
        AotExecutor executor = AotExecutor.create(client, client.systemLibrary(), "m");
        TimeEvaluator first = executor.timeEvaluator(client, TimeEvaluator.Settings.USUAL.with(3, 2));
        assertThat(first.seconds()).containsExactly(0.5, 1.5);
        TimeEvaluator second = executor.timeEvaluator(client, TimeEvaluator.Settings.USUAL);
        assertThat(second.seconds()).containsExactly(0.5);
        assertThatThrownBy(first::seconds).hasMessageContaining("error 0x0900");
    }

    /** Bytes both ways, because one side waits for the other. */
    @Test
    void aCopyOf64KiBUsesTheLineWell() {
        ScriptedLine line = new ScriptedLine();
        RpcClient client = line.connect();
        byte[] content = new byte[64 << 10];
        new Random(1).nextBytes(content);
        RemoteTensor tensor = client.allocate(INT8, content.length);
        client.mostPacketBytes();
        long before = line.bytes();
        tensor.upload(Bytes.copyOf(content));
        double share = (double) content.length / (line.bytes() - before);
        assertThat(share).isGreaterThan(LINE_SHARE);
        assertThat(tensor.download().toArray()).isEqualTo(content);
    }

    @Test
    void aCallWithoutArgumentsIsShort() {
        ScriptedLine line = new ScriptedLine();
        RpcClient client = line.connect();
        RemoteFunction sum = client.systemLibrary().require("sum");
        long before = line.bytes();
        sum.call();
        assertThat(line.bytes() - before).isLessThanOrEqualTo(MOST_BYTES_OF_A_CALL);
    }

    @Test
    void logLinesAreShownWhenTheyCome() {
        ScriptedLine line = new ScriptedLine();
        line.arrives(line.device().says("too early"));
        RpcClient client = line.connect();
        line.arrives(line.device().says("warm"));
        line.arrives(line.device().says("x".repeat(1500)));
        client.systemLibrary();
        assertThat(line.logs()).containsExactly("remote: warm", "remote: " + "x".repeat(1023));
    }

    @Test
    void aBoardThatKeepsQuietIsGivenUp() {
        ScriptedLine line = new ScriptedLine().fromHost(bytes -> new byte[0]);
        assertThatThrownBy(line::connect)
                .satisfies(e -> assertThat(((RpcException) e).kind()).isEqualTo(Kind.SESSION_START_TIMEOUT))
                .hasMessageContaining("MicroSessionTimeoutError: session start handshake failed after 5s");
        assertThat(line.time()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void aStartThatWasLostIsTriedAgain() {
        int[] left = {3};
        ScriptedLine line = new ScriptedLine().fromHost(bytes -> left[0]-- > 0 ? new byte[0] : bytes);
        line.connect();
        assertThat(line.time()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void aBoardThatStartsMeanwhileIsAskedAgainAtOnce() {
        ScriptedLine[] line = {new ScriptedLine()};
        boolean[] isFirst = {true};
        line[0].fromHost(bytes -> {
            if (isFirst[0]) {
                isFirst[0] = false;
                line[0].reset();
            }
            return bytes;
        });
        line[0].connect();
        assertThat(line[0].time()).isZero();
    }

    @Test
    void aBoardThatStartsOverAndOverIsAnError() {
        ScriptedLine line = new ScriptedLine();
        line.fromHost(bytes -> {
            line.reset();
            return new byte[0];
        });
        assertThatThrownBy(line::connect)
                .hasMessageContaining("SessionTerminatedError: multiple session-terminated messages received; device in"
                        + " reboot loop?");
    }

    @Test
    void aBoardThatResetsInACallIsAnErrorAndTheSessionIsOver() {
        ScriptedLine line = new ScriptedLine();
        RpcClient client = line.connect();
        line.fromHost(bytes -> {
            line.reset();
            return new byte[0];
        });
        assertThatThrownBy(client::systemLibrary)
                .satisfies(e -> assertThat(((RpcException) e).kind()).isEqualTo(Kind.SESSION_TERMINATED))
                .hasMessageContaining("SessionTerminatedError: remote device terminated connection");
        assertThatThrownBy(client::systemLibrary)
                .satisfies(e -> assertThat(((RpcException) e).kind()).isEqualTo(Kind.OVER))
                .hasMessageContaining("the session is over");
    }

    @Test
    void aBoardThatFallsSilentInACopyIsAnErrorInTime() {
        ScriptedLine line = new ScriptedLine();
        RpcClient client = line.connect();
        RemoteTensor tensor = client.allocate(INT8, 8000);
        client.mostPacketBytes();
        int[] blocks = {0};
        line.fromHost(bytes -> ++blocks[0] > 2 ? new byte[0] : bytes);
        assertThatThrownBy(() -> tensor.upload(counting(8000)))
                .hasMessageContaining("MicroSessionTimeoutError: failed to read reply message after timeout 5s");
        assertThat(line.time()).isEqualTo(Duration.ofSeconds(5));
        assertThatThrownBy(tensor::download).hasMessageContaining("the session is over");
    }

    @Test
    void aLineThatBreaksIsAnError() {
        ScriptedLine line = new ScriptedLine();
        RpcClient client = line.connect();
        line.toHost(bytes -> {
            line.end();
            return new byte[0];
        });
        assertThatThrownBy(client::systemLibrary)
                .satisfies(e -> assertThat(((RpcException) e).kind()).isEqualTo(Kind.LINE_CLOSED));
    }

    @Test
    void aReplyThatNobodyAskedForIsNotTakenForAnAnswer() {
        ScriptedLine line = new ScriptedLine();
        RpcClient client = line.connect();
        RemoteFunction sum = client.systemLibrary().require("sum");
        line.toHost(bytes -> twice(bytes));
        assertThat(sum.call(new RpcValue.Int(1)).integer()).isEqualTo(1);
        assertThatThrownBy(() -> sum.call(new RpcValue.Int(2))).hasMessageContaining("nobody asked for");
    }

    /** A late reply to one attempt would otherwise be taken for that to the next. */
    @Test
    void everyAttemptToStartSendsAnotherNonce() {
        ScriptedLine line = new ScriptedLine();
        List<String> starts = new ArrayList<>();
        line.fromHost(bytes -> {
            starts.add(Arrays.toString(bytes));
            return new byte[0];
        });
        assertThatThrownBy(line::connect).isInstanceOf(RpcException.class);
        // The end of an earlier session, which begins with a filler, has no nonce.
        starts.removeIf(frame -> frame.startsWith("[-2"));
        assertThat(starts).hasSizeGreaterThan(1).doesNotHaveDuplicates();
    }

    @Test
    void aReplyOfAnotherSessionIsDropped() {
        ScriptedLine line = new ScriptedLine();
        RpcClient old = line.connect();
        RemoteFunction sum = old.systemLibrary().require("sum");
        byte[][] late = new byte[1][];
        line.toHost(bytes -> {
            late[0] = bytes;
            return new byte[0];
        });
        assertThatThrownBy(() -> sum.call(new RpcValue.Int(1))).isInstanceOf(RpcException.class);
        line.toHost(bytes -> bytes);
        RpcClient client = line.connect();
        line.arrives(late[0]);
        RemoteFunction again = client.systemLibrary().require("sum");
        assertThat(again.call(new RpcValue.Int(7)).integer()).isEqualTo(7);
    }

    @Test
    void aRequestThatIsTooLongForTheServerIsNotSent() {
        ScriptedLine line = new ScriptedLine();
        RpcClient client = line.connect();
        RemoteFunction sum = client.systemLibrary().require("sum");
        assertThat(client.mostPacketBytes()).isEqualTo(2037);
        long before = line.bytes();
        assertThatThrownBy(() -> sum.call(new RpcValue.Str("x".repeat(3000)))).hasMessageContaining("at most 2037");
        assertThat(line.bytes()).isEqualTo(before);
    }

    private static byte[] twice(byte[] bytes) {
        byte[] both = Arrays.copyOf(bytes, 2 * bytes.length);
        System.arraycopy(bytes, 0, both, bytes.length, bytes.length);
        return both;
    }

    private static Bytes counting(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) i;
        }
        return Bytes.wrap(bytes);
    }
}
