// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/** Connects to Unix sockets that QEMU opens. */
final class LocalSockets {
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
