// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

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

    /** Serves a client: handles its characters, answers, and runs the core in between, in slices small enough to keep the client from waiting. */
    private static final class ProbeConnection {
        private static final int SLICE = 400;
        /** Slices between two checks whether the client is still connected. */
        private static final int PATIENCE = 1000;

        private final Stm32f405 chip;
        private final Object lock;
        private final RemoteBitbang protocol;
        private final long dropAfter;
        private final long silentAfter;
        private final Duration delay;
        private final byte[] characters = new byte[1 << 16];

        ProbeConnection(Stm32f405 chip, Object lock, Faults faults) {
            this.chip = chip;
            this.lock = lock;
            this.protocol = new RemoteBitbang(chip);
            this.dropAfter = faults.find(Fault.ConnectionDropped.class)
                    .map(Fault.ConnectionDropped::afterBytes)
                    .orElse(Long.MAX_VALUE);
            this.silentAfter = faults.find(Fault.Silence.class)
                    .map(Fault.Silence::afterBytes)
                    .orElse(Long.MAX_VALUE);
            this.delay = faults.find(Fault.SlowProbe.class)
                    .map(Fault.SlowProbe::exchange)
                    .orElse(Duration.ZERO);
        }

        /** Returns when the client has disconnected, or is to be dropped. */
        void serve(Socket socket) throws IOException {
            InputStream input = socket.getInputStream();
            ByteArrayOutputStream answers = new ByteArrayOutputStream();
            boolean open = true;
            while (open && !dropped()) {
                int count = receive(socket, input);
                if (count < 0) {
                    return;
                }
                if (!delay.isZero()) {
                    LockSupport.parkNanos(delay.toNanos());
                }
                synchronized (lock) {
                    open = protocol.accept(characters, count, answers);
                }
                if (!silent()) {
                    answers.writeTo(socket.getOutputStream());
                }
                answers.reset();
            }
        }

        private boolean dropped() {
            synchronized (lock) {
                return chip.programmedBytes() >= dropAfter;
            }
        }

        private boolean silent() {
            synchronized (lock) {
                return chip.programmedBytes() >= silentAfter;
            }
        }

        /** Runs the core until data arrive or it has nothing to do, then waits. */
        private int receive(Socket socket, InputStream input) throws IOException {
            for (int slices = 0; input.available() == 0 && runSlice(); slices++) {
                if (slices >= PATIENCE) {
                    return look(socket, input);
                }
            }
            return dropped() ? -1 : input.read(characters);
        }

        private boolean runSlice() {
            synchronized (lock) {
                if (!chip.powered() || !chip.core().busy()) {
                    return false;
                }
                chip.core().run(SLICE);
                return chip.programmedBytes() < dropAfter;
            }
        }

        /** Looks whether data have come, by a read: only a read tells whether the client has disconnected. */
        private int look(Socket socket, InputStream input) throws IOException {
            try {
                socket.setSoTimeout(1);
                return input.read(characters);
            } catch (SocketTimeoutException e) {
                return 0;
            } finally {
                socket.setSoTimeout(0);
            }
        }

        /**
         * OpenOCD's remote_bitbang protocol: one character per command. '0' to '7' drive TCK, TMS and TDI; 'R' reads TDO; 'r'
         * to 'u' drive the reset lines; 'B' and 'b' switch an LED; 'Q' ends.
         */
        private static final class RemoteBitbang {
            private final Stm32f405 chip;
            private boolean resetHeld;

            RemoteBitbang(Stm32f405 chip) {
                this.chip = chip;
            }

            /**
             * Handles characters.
             *
             * @param answers gets a character for each read command
             * @return false if the client ended the session
             */
            boolean accept(byte[] characters, int count, ByteArrayOutputStream answers) {
                for (int i = 0; i < count; i++) {
                    int command = characters[i];
                    if (command >= '0' && command <= '7') {
                        drive(command - '0');
                    } else if (command == 'R') {
                        answers.write(chip.powered() ? '0' + chip.chain().tdo() : '1');
                    } else if (command >= 'r' && command <= 'u') {
                        resetLines(command - 'r');
                    } else if (command == 'Q') {
                        return false;
                    }
                }
                return true;
            }

            private void drive(int pins) {
                if (chip.powered()) {
                    chip.chain().drive((pins & 4) != 0, (pins & 2) != 0, pins & 1);
                }
            }

            private void resetLines(int lines) {
                if ((lines & 2) != 0) {
                    chip.chain().reset();
                }
                boolean hold = (lines & 1) != 0;
                if (hold != resetHeld) {
                    resetHeld = hold;
                    chip.holdInReset(hold);
                }
            }
        }
    }

    /**
     * An STM32F405, of which only the flash survives power loss. It has power while a {@link VirtualProbe} is attached, and
     * restarts with each; option bytes have factory values, except for the faults of that start.
     */
    public static final class VirtualChip {
        private final byte[] flash;
        private final Optional<Path> file;
        private final AtomicBoolean attached = new AtomicBoolean();

        private VirtualChip(byte[] flash, Optional<Path> file) {
            this.flash = flash;
            this.file = file;
        }

        /** A chip whose flash is erased. */
        public static VirtualChip erased() {
            return of(FlashContent.erased());
        }

        public static VirtualChip of(FlashContent content) {
            return new VirtualChip(content.bytes().toArray(), Optional.empty());
        }

        /**
         * A chip whose flash is a file: read now, written whenever a probe is closed. If the file is missing, the flash is
         * erased.
         *
         * @throws io.kiln.base.KilnException if the file exists but is not valid flash content
         */
        public static VirtualChip storedIn(Path file) {
            FlashContent content = Files.exists(file) ? FlashContent.load(file) : FlashContent.erased();
            return new VirtualChip(content.bytes().toArray(), Optional.of(file));
        }

        /** The current flash content. Between two exchanges of an attached probe it may be half programmed. */
        public FlashContent flash() {
            synchronized (flash) {
                return new FlashContent(Bytes.copyOf(flash));
            }
        }

        /** The chip after power-up. Every use must hold the lock {@link #lock}. */
        Stm32f405 powerUp(Faults faults) {
            if (!attached.compareAndSet(false, true)) {
                throw new IllegalStateException("the chip is attached to a probe already");
            }
            return new Stm32f405(flash, faults);
        }

        void powerDown() {
            if (attached.getAndSet(false)) {
                file.ifPresent(flash()::save);
            }
        }

        Object lock() {
            return flash;
        }

        /**
         * The flash content of a virtual chip: {@link #SIZE} bytes from 0x08000000 on. The file has exactly these bytes, so
         * that QEMU boots it ({@code -M netduinoplus2 -kernel}) and a later run continues with it.
         *
         * @param bytes exactly {@link #SIZE} bytes
         */
        public record FlashContent(Bytes bytes) {
            /** Bytes of the flash. */
            public static final int SIZE = 1 << 20;

            public FlashContent {
                if (bytes.size() != SIZE) {
                    throw new IllegalArgumentException("a flash of " + bytes.size() + " bytes");
                }
            }

            /** Erased flash: all ones. */
            public static FlashContent erased() {
                byte[] bytes = new byte[SIZE];
                Arrays.fill(bytes, (byte) 0xff);
                return new FlashContent(Bytes.wrap(bytes));
            }

            /**
             * Reads a file written by {@link #save}.
             *
             * @throws KilnException if the file cannot be read or has another size
             */
            public static FlashContent load(Path file) {
                try {
                    long size = Files.size(file);
                    if (size != SIZE) {
                        throw Failure.DEVICE.exception(
                                "the file has " + size + " bytes",
                                file.toString(),
                                SIZE + " bytes, the whole flash of the virtual board",
                                "Delete it: the virtual board starts erased then");
                    }
                    return new FlashContent(Bytes.wrap(Files.readAllBytes(file)));
                } catch (IOException e) {
                    throw new KilnException(
                            Failure.DEVICE.problem("the flash content cannot be read", file.toString()), e);
                }
            }

            /** Writes the content, whole or not at all. */
            public void save(Path file) {
                WholeFiles.write(file, bytes.toArray());
            }

            /** The first bytes of the content. */
            public Bytes start(int size) {
                return Bytes.wrap(Arrays.copyOf(bytes.toArray(), size));
            }
        }
    }
}
