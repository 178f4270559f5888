// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A probe attached to a virtual chip: a server on the loopback interface that OpenOCD connects to with its adapter
 * {@code remote_bitbang}. It serves one client after another until it is closed. JTAG only: OpenOCD 0.12 has no SWD
 * over this adapter.
 */
public final class VirtualProbe implements AutoCloseable {
    private static final long END_MILLIS = 5000;

    private final VirtualChip chip;
    private final ServerSocket server;
    private final ProbeConnection connection;
    private final AtomicReference<Socket> client = new AtomicReference<>(new Socket());
    private final Thread thread;

    private VirtualProbe(VirtualChip chip, ServerSocket server, ProbeConnection connection) {
        this.chip = chip;
        this.server = server;
        this.connection = connection;
        this.thread = new Thread(this::serve, "virtual-probe-" + server.getLocalPort());
        thread.setDaemon(true);
    }

    /**
     * Powers the chip up and listens on a free port.
     *
     * @throws IllegalStateException if another probe is attached to the chip
     * @throws KilnException if no port is available
     */
    public static VirtualProbe start(VirtualChip chip, Faults faults) {
        Stm32f405 powered = chip.powerUp(faults);
        try {
            ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            ProbeConnection connection = new ProbeConnection(powered, chip.lock(), faults);
            VirtualProbe probe = new VirtualProbe(chip, server, connection);
            probe.thread.start();
            return probe;
        } catch (IOException e) {
            chip.powerDown();
            throw new KilnException(
                    Failure.DEVICE.problem("the virtual probe cannot listen: " + e.getMessage(), "loopback interface"),
                    e);
        }
    }

    /** The TCP port on the loopback interface. */
    public int port() {
        return server.getLocalPort();
    }

    /** The server's address. */
    public String host() {
        return server.getInetAddress().getHostAddress();
    }

    /** OpenOCD's configuration of the interface, placed before that of the target. */
    public String interfaceConfig() {
        return "adapter driver remote_bitbang\n"
                + "remote_bitbang host " + host() + "\n"
                + "remote_bitbang port " + port() + "\n";
    }

    /**
     * OpenOCD's configuration to be placed behind {@code target/stm32f4x.cfg}: that script's handlers for these events
     * set the adapter's speed, which this adapter lacks and answers with a meaningless error.
     */
    public static String afterTargetConfig() {
        return "stm32f4x.cpu configure -event reset-start {}\nstm32f4x.cpu configure -event reset-init {}\n";
    }

    private void serve() {
        while (!server.isClosed()) {
            serveNext();
        }
    }

    private void serveNext() {
        try (Socket socket = server.accept()) {
            client.set(socket);
            socket.setTcpNoDelay(true);
            connection.serve(socket);
        } catch (IOException e) {
            // The client or this probe disconnected; the next client may connect.
            return;
        }
    }

    /** Ends the connection if there is one; the chip loses its power and keeps its flash. Idempotent. */
    @Override
    public void close() {
        try {
            server.close();
            client.get().close();
            thread.join(END_MILLIS);
        } catch (IOException e) {
            // Nothing else can be done.
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            chip.powerDown();
        }
    }
}
