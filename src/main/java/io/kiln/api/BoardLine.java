// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.device.emulator.Emulator;
import io.kiln.device.transport.TcpTransport;
import io.kiln.device.transport.Transport;
import io.kiln.device.transport.serial.SerialConsole;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.time.Duration;

/** An open line to a running image. */
public final class BoardLine implements AutoCloseable {
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final Transport transport;

    private BoardLine(Transport transport) {
        this.transport = transport;
    }

    /**
     * Opens a serial port.
     *
     * @param port such as {@code /dev/ttyACM0}
     * @param baud its rate
     * @return the line
     * @throws KilnFailure if it cannot be opened
     */
    public static BoardLine serial(String port, int baud) {
        return KilnFailure.told(() -> new BoardLine(SerialConsole.open(port, baud)));
    }

    /**
     * Connects to a port of this computer, such as an emulator's.
     *
     * @param port its number
     * @return the line
     * @throws KilnFailure if nobody listens
     */
    public static BoardLine tcp(int port) {
        return KilnFailure.told(() -> new BoardLine(TcpTransport.open(port, CONNECT)));
    }

    /**
     * Boots an image in the emulator of a built-in board, which ends when the line is closed.
     *
     * @param board id of the board
     * @param image an ELF file
     * @param limit the longest time that it runs
     * @return the line
     * @throws KilnFailure if the board has no emulator, or it cannot be started
     */
    public static BoardLine emulator(String board, Path image, Duration limit) {
        return KilnFailure.told(() ->
                new BoardLine(Emulator.of(Boards.builtIn().find(board), limit).boot(image)));
    }

    Transport transport() {
        return transport;
    }

    /** Closes the line. */
    @Override
    public void close() {
        KilnFailure.told(transport::close);
    }
}
