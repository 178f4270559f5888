// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.ImageEnd;
import io.kiln.device.rpc.packet.DataType;
import io.kiln.device.rpc.packet.PacketReader;
import io.kiln.device.rpc.packet.PacketWriter;
import io.kiln.device.rpc.packet.RpcCode;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.rpc.packet.RpcValue;
import io.kiln.device.rpc.packet.RpcValue.TypeCode;
import io.kiln.device.transport.FrameReader;
import io.kiln.device.transport.Transport;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * A host's session with an RPC server. It throws {@link RpcException} for whatever fails; the session goes on only after one of kind
 * {@link Kind#REMOTE}. Not thread-safe.
 *
 * <pre>{@code
 * try (RpcClient board = RpcClient.connect(line, TransportTimeouts.SERIAL, System.err::println);
 *         RemoteTensor data = board.allocate(DataType.of(DType.INT8), 16)) {
 *     data.upload(bytes);
 *     board.systemLibrary().require("tvmgen_default_fused_add").call(data.value(), data.value());
 * }
 * }</pre>
 */
public final class RpcClient implements AutoCloseable {
    /** Version of the protocol, as the client says it. */
    public static final String VERSION = "0.8.0";

    private static final String MOST_PACKET = "tvm.rpc.server.GetCRTMaxPacketSize";
    private static final String SYSTEM_LIBRARY = "runtime.SystemLib";

    /** Bytes of the largest packet that is sent: a larger one could fill a pipe that nobody reads, and the host would wait for ever. */
    private static final int LARGEST_PACKET = 32 << 10;

    private static final int ALIGNMENT = 16;
    private static final int LARGEST_NONCE = 255;

    private final Connection connection;
    private final AtomicBoolean held;
    private final Map<String, RemoteFunction> globals = new HashMap<>();
    private OptionalInt mostPacketBytes = OptionalInt.empty();
    private boolean isClosed;

    private RpcClient(Connection connection, AtomicBoolean held) {
        this.connection = connection;
        this.held = held;
    }

    /**
     * Connects to the server at the other end of a line.
     *
     * @param line an open line; it stays the caller's to close
     * @param timeouts how long to wait
     * @param log gets each log line of the board, as {@code remote: <text>}
     * @throws RpcException also if another client holds the line; it does until it is closed
     */
    public static RpcClient connect(Transport line, TransportTimeouts timeouts, Consumer<String> log) {
        return connect(line, timeouts, log, text -> {});
    }

    /** Connects as {@link #connect(Transport, TransportTimeouts, Consumer)} does; {@code text} gets what the board prints outside frames. */
    public static RpcClient connect(
            Transport line, TransportTimeouts timeouts, Consumer<String> log, Consumer<String> text) {
        AtomicBoolean held = line.held();
        if (held.getAndSet(true)) {
            throw new RpcException(
                    Kind.LINE_HELD,
                    Failure.RPC.problem(
                            "another client holds the line",
                            RpcException.WHERE,
                            "one client at a time",
                            "Close that client, or open another line"));
        }
        FrameReader in = new FrameReader(line.input(), text, 0);
        Connection connection = new Connection(in, line.output(), timeouts, log);
        SecureRandom random = new SecureRandom();
        return over(connection, () -> 1 + random.nextInt(LARGEST_NONCE), held);
    }

    /** Connects over a connection that has sent nothing yet, which is closed if that fails. */
    static RpcClient over(Connection connection, IntSupplier nonces) {
        return over(connection, nonces, new AtomicBoolean(true));
    }

    private static RpcClient over(Connection connection, IntSupplier nonces, AtomicBoolean held) {
        RpcClient client = new RpcClient(connection, held);
        try {
            connection.connect(nonces);
            client.initialise();
            return client;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private void initialise() {
        requireVoid(exchange(
                        new PacketWriter(RpcCode.INIT_SERVER)
                                .counted(VERSION.getBytes(StandardCharsets.US_ASCII))
                                .sequence(List.of()),
                        RpcCode.RETURN,
                        0)
                .sequence());
    }

    /** A global function; empty if the server has none of this name. */
    public Optional<RemoteFunction> function(String name) {
        RemoteFunction known = globals.get(name);
        if (known != null) {
            return Optional.of(known);
        }
        List<RpcValue> reply =
                request(new PacketWriter(RpcCode.GET_GLOBAL_FUNC).sequence(List.of(new RpcValue.Str(name))));
        long handle = handle(reply);
        if (handle == 0) {
            return Optional.empty();
        }
        RemoteFunction found = new RemoteFunction(this, handle);
        globals.put(name, found);
        return Optional.of(found);
    }

    /**
     * A global function that must be there.
     *
     * @throws RpcException if the server has none of this name
     */
    public RemoteFunction global(String name) {
        return function(name)
                .orElseThrow(() -> new RpcException(
                        Kind.REMOTE,
                        Failure.RPC.problem(
                                "the board's server has no global function " + name,
                                RpcException.WHERE,
                                "a server that registers it")));
    }

    /** The functions that were linked into the image. */
    public RemoteModule systemLibrary() {
        return global(SYSTEM_LIBRARY).call().module();
    }

    /** Allocates a tensor; the caller closes it. */
    public RemoteTensor allocate(DataType type, long... shape) {
        List<Long> extents = Arrays.stream(shape).boxed().toList();
        RpcValue.Tensor empty = new RpcValue.Tensor(0, RpcValue.Device.CPU, type, extents, 0);
        long handle = handle(request(new PacketWriter(RpcCode.DEV_ALLOC_DATA)
                .sequence(List.of(
                        RpcValue.Device.CPU,
                        new RpcValue.Int(empty.bytes()),
                        new RpcValue.Int(ALIGNMENT),
                        new RpcValue.Type(type)))));
        if (handle == 0) {
            throw RpcException.malformed("the board allocated " + empty.bytes() + " bytes at address 0", "an address");
        }
        return RemoteTensor.allocated(this, new RpcValue.Tensor(handle, RpcValue.Device.CPU, type, extents, 0));
    }

    /** Bytes of the largest packet that the server takes, without its length; the host asks once. */
    public int mostPacketBytes() {
        if (mostPacketBytes.isEmpty()) {
            OptionalLong said = function(MOST_PACKET)
                    .map(function -> OptionalLong.of(function.call().integer()))
                    .orElse(OptionalLong.empty());
            mostPacketBytes = OptionalInt.of((int) Math.max(0, Math.min(LARGEST_PACKET, said.orElse(LARGEST_PACKET))));
        }
        return mostPacketBytes.getAsInt();
    }

    /** Ends the server. It answers nothing; on a board only a reset brings it back. */
    public void shutdown() {
        connection.send(new PacketWriter(RpcCode.SHUTDOWN).packet());
    }

    /**
     * Waits for a program that was told to end to say so, or for the line to end.
     *
     * @return what the program said; empty if it said nothing
     */
    public Optional<ImageEnd> awaitEnd(Duration time) {
        return connection.awaitEnd(time);
    }

    /** Sends a request and reads the values of its reply. */
    List<RpcValue> request(PacketWriter request) {
        return exchange(request, RpcCode.RETURN, 0).sequence();
    }

    /** Sends a request that has a body already, and whose reply has no value. */
    void requestVoid(PacketWriter request) {
        requireVoid(request(request));
    }

    /** Sends a request of these values whose reply has no value. */
    void requestVoid(PacketWriter request, RpcValue... values) {
        requireVoid(request(request.sequence(List.of(values))));
    }

    /** Frees a handle on the board. */
    void free(long handle, TypeCode type) {
        requestVoid(new PacketWriter(RpcCode.FREE_HANDLE), new RpcValue.Handle(handle), new RpcValue.Int(type.code()));
    }

    /**
     * Sends a request and reads the head of its reply.
     *
     * @param mostData bytes of a tensor that the reply may carry
     */
    PacketReader exchange(PacketWriter request, RpcCode expected, int mostData) {
        Bytes packet = request.packet();
        requireRoom(packet.size() - PacketWriter.LENGTH);
        PacketReader reply = PacketReader.of(connection.exchange(packet, mostData));
        if (reply.code() == RpcCode.EXCEPTION) {
            throw remote(reply.sequence());
        }
        if (reply.code() != expected) {
            throw RpcException.malformed("a reply of code " + reply.code(), "" + expected);
        }
        return reply;
    }

    private void requireRoom(int bytes) {
        if (mostPacketBytes.isPresent() && bytes > mostPacketBytes.getAsInt()) {
            throw new RpcException(
                    Kind.REMOTE,
                    Failure.RPC.problem(
                            "a request has " + bytes + " bytes",
                            RpcException.WHERE,
                            "at most " + mostPacketBytes.getAsInt() + ", which the server's buffer takes",
                            "Pass less at once"));
        }
    }

    private static RpcException remote(List<RpcValue> values) {
        String text = values.size() == 1 && values.get(0) instanceof RpcValue.Str message
                ? message.text()
                : "an exception without a text";
        return new RpcException(Kind.REMOTE, Failure.RPC.problem("the board reported: " + text, RpcException.WHERE));
    }

    private static long handle(List<RpcValue> reply) {
        if (reply.size() == 1 && reply.get(0) instanceof RpcValue.Handle handle) {
            return handle.value();
        }
        throw RpcException.malformed("a reply of " + reply.size() + " values", "one handle");
    }

    private static void requireVoid(List<RpcValue> reply) {
        if (reply.size() != 1 || !(reply.get(0) instanceof RpcValue.Null)) {
            throw RpcException.malformed("a reply of " + reply.size() + " values", "nothing");
        }
    }

    /** Stops listening. The server goes on, and so does the line. */
    @Override
    public void close() {
        connection.close();
        if (!isClosed) {
            held.set(false);
        }
        isClosed = true;
    }
}
