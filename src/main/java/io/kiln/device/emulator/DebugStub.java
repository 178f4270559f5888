// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Locale;
import java.util.function.LongSupplier;

/** Drives QEMU's debug stub over a Unix socket, with the small part of GDB's remote serial protocol that breakpoints need. Not thread-safe. */
final class DebugStub implements AutoCloseable {
    private static final int BREAKPOINT_BYTES = 2;

    private final SocketChannel channel;
    private final LongSupplier instructions;
    private final ByteBuffer received = ByteBuffer.allocate(1 << 16).flip();
    private final Architecture architecture;

    /** Positions of the program counter, the return address and a result in a register set, as indices of 32-bit words. */
    enum Architecture {
        ARM(15, 14, 0),
        RISCV(32, 1, 10);

        private static final int EM_RISCV = 243;

        private final int counter;
        private final int link;
        private final int result;

        Architecture(int counter, int link, int result) {
            this.counter = counter;
            this.link = link;
            this.result = result;
        }

        /** The architecture of an image. */
        static Architecture of(ElfFile elf) {
            return elf.machine() == EM_RISCV ? RISCV : ARM;
        }
    }

    /**
     * A stop of the image.
     *
     * @param address the program counter
     * @param returnAddress the link register, without the Thumb bit
     * @param result the register of a function's first argument and its result
     * @param instructions executed so far, without the one at the address
     */
    record Stop(long address, long returnAddress, long result, long instructions) {}

    private DebugStub(SocketChannel channel, LongSupplier instructions, Architecture architecture) {
        this.channel = channel;
        this.instructions = instructions;
        this.architecture = architecture;
    }

    /** Connects as soon as QEMU listens. */
    static DebugStub connect(Path socket, MachineMonitor monitor, Architecture architecture, Duration timeout) {
        return new DebugStub(LocalSockets.connect(socket, timeout), monitor::instructions, architecture);
    }

    /** Connects as soon as QEMU listens, without instruction counts: every stop has 0. */
    static DebugStub connect(Path socket, Architecture architecture, Duration timeout) {
        return new DebugStub(LocalSockets.connect(socket, timeout), () -> 0, architecture);
    }

    void stopAt(long address) {
        expect("Z0," + Long.toHexString(address) + "," + BREAKPOINT_BYTES, "OK");
    }

    void passBy(long address) {
        expect("z0," + Long.toHexString(address) + "," + BREAKPOINT_BYTES, "OK");
    }

    /** Resumes the image without waiting for a stop. */
    void resume() {
        send("c");
    }

    /** Waits until the resumed image stops. */
    Stop await() {
        stopped(receive());
        byte[] registers = HexFormat.of().parseHex(ask("g"));
        ByteBuffer words = ByteBuffer.wrap(registers).order(ByteOrder.LITTLE_ENDIAN);
        long address = Integer.toUnsignedLong(words.getInt(4 * architecture.counter));
        long link = Integer.toUnsignedLong(words.getInt(4 * architecture.link));
        long result = Integer.toUnsignedLong(words.getInt(4 * architecture.result));
        return new Stop(address, link & ~1L, result, instructions.getAsLong());
    }

    private void stopped(String reply) {
        if (!reply.startsWith("T") && !reply.startsWith("S")) {
            throw failure("the image ended while its instructions were counted (" + reply + ")");
        }
    }

    private void expect(String packet, String expected) {
        String reply = ask(packet);
        if (!reply.equals(expected)) {
            throw failure("QEMU's debug stub answered " + packet + " with \"" + reply + "\"");
        }
    }

    private String ask(String packet) {
        send(packet);
        return receive();
    }

    private void send(String packet) {
        byte[] body = packet.getBytes(StandardCharsets.US_ASCII);
        // The plus acknowledges the previous reply.
        String framed = "+$" + packet + "#" + String.format(Locale.ROOT, "%02x", checksum(body));
        ByteBuffer bytes = ByteBuffer.wrap(framed.getBytes(StandardCharsets.US_ASCII));
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw ended(e);
        }
    }

    private static int checksum(byte[] body) {
        int sum = 0;
        for (byte value : body) {
            sum += value;
        }
        return sum & 0xFF;
    }

    /** The next packet's body. Acknowledgements are skipped. */
    private String receive() {
        int value = next();
        while (value != '$') {
            value = next();
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (value = next(); value != '#'; value = next()) {
            body.write(value);
        }
        next();
        next();
        return body.toString(StandardCharsets.US_ASCII);
    }

    private int next() {
        try {
            if (!received.hasRemaining()) {
                received.clear();
                int n = channel.read(received);
                received.flip();
                if (n < 0) {
                    throw failure("QEMU ended while instructions were counted");
                }
            }
            return received.get() & 0xFF;
        } catch (IOException e) {
            throw ended(e);
        }
    }

    private static KilnException ended(IOException cause) {
        return new KilnException(
                Failure.PROFILE.problem("QEMU ended while instructions were counted", "debug stub"), cause);
    }

    private static KilnException failure(String what) {
        return Failure.PROFILE.exception(what, "debug stub");
    }

    @Override
    public void close() {
        LocalSockets.close(channel);
    }

    /** Connects to Unix sockets that QEMU opens. */
    static final class LocalSockets {
        private static final long RETRY_MILLIS = 20;

        private LocalSockets() {}

        /** Connects as soon as QEMU listens. */
        static SocketChannel connect(Path socket, Duration timeout) {
            long deadline = System.nanoTime() + timeout.toNanos();
            while (true) {
                try {
                    return SocketChannel.open(UnixDomainSocketAddress.of(socket));
                } catch (IOException e) {
                    if (System.nanoTime() > deadline) {
                        throw new KilnException(Failure.TOOL.problem("QEMU does not answer", socket.toString()), e);
                    }
                    pause();
                }
            }
        }

        private static void pause() {
            try {
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new KilnException(Failure.COMPUTER.problem("the build was interrupted", "QEMU"), e);
            }
        }

        static void close(SocketChannel channel) {
            try {
                channel.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
