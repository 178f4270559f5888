// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.core.protocol.core.impl.PacketImpl;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.CreateSessionMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.Ping;
import org.apache.activemq.artemis.core.version.impl.VersionImpl;
import org.apache.activemq.artemis.utils.VersionLoader;

/** Says to a broker whatever it is told to say. */
final class RawMember implements AutoCloseable {
    /** Channel of its session. */
    static final long SESSION = 10;

    private static final int PATIENCE_MILLIS = 60_000;
    private static final int HEAD_BYTES = 9;

    private final Socket socket;
    private final DataInputStream in;

    private RawMember(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
        this.in = new DataInputStream(socket.getInputStream());
    }

    /** Connects, and says nothing yet. */
    static RawMember connect(int port, Optional<SSLContext> tls) throws IOException {
        return new RawMember(
                tls.isPresent()
                        ? tls.get().getSocketFactory().createSocket("localhost", port)
                        : new Socket("localhost", port));
    }

    /** Connects as members do. */
    static RawMember greet(int port, Optional<SSLContext> tls) throws IOException {
        RawMember member = connect(port, tls);
        member.say("ARTEMIS".getBytes(StandardCharsets.US_ASCII));
        return member;
    }

    /** Its own port: how the broker's log names it. */
    int port() {
        return socket.getLocalPort();
    }

    /** Says bytes, which the broker may not wait for. */
    void say(byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        } catch (SocketException | SSLException e) {
            // The end is seen when its answer is read.
        }
    }

    /** A packet as it is. */
    void say(byte type, long channel, byte[] body) throws IOException {
        say(ByteBuffer.allocate(4 + HEAD_BYTES + body.length)
                .putInt(HEAD_BYTES + body.length)
                .put(type)
                .putLong(channel)
                .put(body)
                .array());
    }

    /** A packet that the engine itself has written. */
    void say(PacketImpl packet, long channel) throws IOException {
        packet.setChannelID(channel);
        ActiveMQBuffer buffer = packet.encode(null);
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        say(bytes);
    }

    /** Asks for a session. */
    boolean login(String user, String password) throws IOException {
        return login(user, password, ((VersionImpl) VersionLoader.getVersion()).getIncrementingVersion());
    }

    /** Asks for a session, in which packets have the form of an older engine's. */
    boolean login(String user, String password, int version) throws IOException {
        say(
                new CreateSessionMessage(
                        "raw" + port(),
                        SESSION,
                        version,
                        user,
                        password,
                        Integer.MAX_VALUE,
                        false,
                        true,
                        true,
                        false,
                        -1,
                        null),
                1);
        byte answer = read();
        if (answer != PacketImpl.CREATESESSION_RESP && answer != PacketImpl.EXCEPTION) {
            throw new IllegalStateException("the broker answered " + answer);
        }
        return answer == PacketImpl.CREATESESSION_RESP;
    }

    /** The type of the next packet that is no ping and no news about clusters. */
    private byte read() throws IOException {
        byte type;
        do {
            int length = in.readInt();
            type = in.readByte();
            in.skipNBytes(length - 1L);
        } while (type == PacketImpl.PING
                || type == PacketImpl.CLUSTER_TOPOLOGY_V4
                || type == PacketImpl.CLUSTER_TOPOLOGY_V3);
        return type;
    }

    /** Whether the broker ends the connection, whatever it says before. */
    boolean isEnded() throws IOException {
        try {
            in.transferTo(java.io.OutputStream.nullOutputStream());
            return true;
        } catch (SocketException | SSLException | EOFException e) {
            return true;
        }
    }

    /** How many bytes the broker says until it ends the connection. */
    int answerBytes() throws IOException {
        try {
            return in.readAllBytes().length;
        } catch (SocketException | SSLException e) {
            return 0;
        }
    }

    /** Whether the broker answers a ping, whatever it says before. */
    boolean isServed() throws IOException {
        say(new Ping(PATIENCE_MILLIS), 0);
        try {
            byte type;
            do {
                int length = in.readInt();
                type = in.readByte();
                in.skipNBytes(length - 1L);
            } while (type != PacketImpl.PING);
            return true;
        } catch (SocketException | SSLException | EOFException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
