// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A program behind a TCP port of this computer, for one host after the other; it goes on when a host leaves. */
public final class ScriptedBoard implements AutoCloseable {
    private static final int NONCE = 0xAB;

    private final ServerSocket socket;
    private final UnaryOperator<byte[]> program;
    private final byte[] greeting;

    private ScriptedBoard(UnaryOperator<byte[]> program, byte[] greeting) throws IOException {
        this.socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        this.program = program;
        this.greeting = greeting;
        Thread thread = new Thread(this::serve, "scripted-board");
        thread.setDaemon(true);
        thread.start();
    }

    /** A board with the RPC server of {@link ScriptedServer}. */
    public static ScriptedBoard rpc() throws IOException {
        ScriptedDevice device = new ScriptedDevice(NONCE);
        return new ScriptedBoard(device::feed, device.boot());
    }

    /** A board that says something else. */
    public static ScriptedBoard of(Supplier<byte[]> greeting, UnaryOperator<byte[]> program) throws IOException {
        return new ScriptedBoard(program, greeting.get());
    }

    /** The port to connect to. */
    public int port() {
        return socket.getLocalPort();
    }

    private void serve() {
        boolean isOver = false;
        while (!isOver) {
            try (Socket host = socket.accept()) {
                serve(host.getInputStream(), host.getOutputStream());
            } catch (IOException e) {
                // Either the host left, and the next one is served, or the test is over.
                isOver = socket.isClosed();
            }
        }
    }

    private void serve(InputStream in, OutputStream out) throws IOException {
        out.write(greeting);
        byte[] block = new byte[512];
        for (int n = in.read(block); n >= 0; n = in.read(block)) {
            out.write(program.apply(Arrays.copyOf(block, n)));
            out.flush();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
