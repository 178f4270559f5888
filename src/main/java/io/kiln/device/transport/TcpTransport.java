// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A line over TCP to a program of this computer, such as an emulator whose serial port is a socket. Other computers are refused. */
public final class TcpTransport implements Transport {
    private static final Pattern ADDRESS = Pattern.compile("tcp:(?:(127\\.0\\.0\\.1|localhost):)?([0-9]{1,5})");
    private static final String PREFIX = "tcp:";
    private static final int MOST_PORT = 65535;

    private final Socket socket;
    private final InputStream input;
    private final OutputStream output;
    private final AtomicBoolean held = new AtomicBoolean();
    private final String name;

    private TcpTransport(Socket socket, InputStream input, OutputStream output, String name) {
        this.socket = socket;
        this.input = input;
        this.output = output;
        this.name = name;
    }

    /**
     * Reads a port's name.
     *
     * @param port {@code tcp:<number>} or {@code tcp:127.0.0.1:<number>}
     * @return its number; empty if this names another kind of port
     * @throws KilnException if it begins with {@code tcp:} and is neither form
     */
    public static Optional<Integer> port(String port) {
        if (!port.startsWith(PREFIX)) {
            return Optional.empty();
        }
        Matcher matcher = ADDRESS.matcher(port);
        if (matcher.matches() && Integer.parseInt(matcher.group(2)) <= MOST_PORT) {
            return Optional.of(Integer.valueOf(matcher.group(2)));
        }
        throw Failure.DEVICE.exception(
                "cannot be a TCP port of this computer", port, "tcp:<number>, or tcp:127.0.0.1:<number>");
    }

    /**
     * Connects to a port of this computer.
     *
     * @param limit longest time to connect
     * @throws KilnException if nobody listens
     */
    public static TcpTransport open(int port, Duration limit) {
        String name = PREFIX + "127.0.0.1:" + port;
        try {
            Socket socket = new Socket();
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) limit.toMillis());
            socket.setTcpNoDelay(true);
            return new TcpTransport(socket, socket.getInputStream(), socket.getOutputStream(), name);
        } catch (IOException e) {
            throw new KilnException(
                    Failure.DEVICE.problem("nobody listens", name, "a program that does", "Start it first"), e);
        }
    }

    @Override
    public InputStream input() {
        return input;
    }

    @Override
    public OutputStream output() {
        return output;
    }

    @Override
    public AtomicBoolean held() {
        return held;
    }

    /** Adds the port to problems whose place is only "console". */
    @Override
    public KilnException explained(KilnException failure) {
        return failure.relocated("console", name);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new KilnException(Failure.DEVICE.problem("the socket cannot be closed: " + e.getMessage(), name), e);
        }
    }
}
