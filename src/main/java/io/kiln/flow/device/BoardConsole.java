// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.device.transport.TcpTransport;
import io.kiln.device.transport.Transport;
import io.kiln.device.transport.serial.Port;
import io.kiln.device.transport.serial.PortChoice;
import io.kiln.device.transport.serial.SerialConsole;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.toolchain.board.Board;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The serial console of a board.
 *
 * @param spec the user's settings
 */
public record BoardConsole(Board board, ConsoleSpec spec) {
    private static final int DEFAULT_BAUD = 115200;
    private static final Duration TO_CONNECT = Duration.ofSeconds(5);

    /**
     * The path of the port, which need not be open yet.
     *
     * @throws io.kiln.base.KilnException if no port matches, or more than one
     */
    String port() {
        return choice(spec.serial()).choose(Port.list());
    }

    /** The path of the port, as {@link #port()} finds it; unless the user names a port, one of the same USB device as the probe is preferred. */
    String portBeside(Optional<String> probe) {
        List<Port> ports = Port.list();
        boolean isOfProbe = spec.serial().isEmpty()
                && probe.isPresent()
                && ports.stream().anyMatch(port -> port.serial().equals(probe.get()));
        return choice(isOfProbe ? probe : spec.serial()).choose(ports);
    }

    /**
     * Opens the line.
     *
     * @param port a serial port, or {@code tcp:<number>} for a port of this computer
     * @throws io.kiln.base.KilnException if it cannot be opened
     */
    Transport open(String port) {
        Optional<Integer> tcp = TcpTransport.port(port);
        return tcp.isPresent() ? TcpTransport.open(tcp.get(), TO_CONNECT) : SerialConsole.open(port, baud());
    }

    /** Opens the port that is the board's console. */
    public Transport open() {
        return open(port());
    }

    /** A port's name for people, a serial one's with its speed. */
    String name(String port) {
        return TcpTransport.port(port).isPresent() ? port : port + " at " + baud() + " baud";
    }

    int baud() {
        return spec.baud().orElse(board.console().map(Board.Console::baud).orElse(DEFAULT_BAUD));
    }

    private PortChoice choice(Optional<String> serial) {
        return new PortChoice(
                spec.port(), serial, board.console().map(Board.Console::usb).orElse(List.of()));
    }
}
