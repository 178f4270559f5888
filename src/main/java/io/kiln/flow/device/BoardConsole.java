// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.device.transport.serial.Port;
import io.kiln.device.transport.serial.PortChoice;
import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.toolchain.board.Board;
import java.util.List;
import java.util.Optional;

/**
 * The serial console of a board.
 *
 * @param board the board
 * @param spec the user's settings
 */
record BoardConsole(Board board, ConsoleSpec spec) {
    private static final int DEFAULT_BAUD = 115200;

    /**
     * The path of the port, which need not be open yet.
     *
     * @throws io.kiln.base.KilnException if no port matches, or more than one
     */
    String port() {
        return choice(spec.serial()).choose(Port.list());
    }

    /** As {@link #port()}; unless the user names a port, one of the same USB device as the probe is preferred. */
    String portBeside(Optional<String> probe) {
        List<Port> ports = Port.list();
        boolean isOfProbe = spec.serial().isEmpty()
                && probe.isPresent()
                && ports.stream().anyMatch(port -> port.serial().equals(probe.get()));
        return choice(isOfProbe ? probe : spec.serial()).choose(ports);
    }

    /** Bits per second. */
    int baud() {
        return spec.baud().orElse(board.console().map(Board.Console::baud).orElse(DEFAULT_BAUD));
    }

    private PortChoice choice(Optional<String> serial) {
        return new PortChoice(
                spec.port(), serial, board.console().map(Board.Console::usb).orElse(List.of()));
    }
}
