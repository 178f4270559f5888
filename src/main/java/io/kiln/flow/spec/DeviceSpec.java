// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import java.util.Optional;

/**
 * How to flash a board and talk to it.
 *
 * @param flash how to flash it
 * @param isFlashed whether to flash at all; otherwise the board keeps its content
 * @param console its serial console
 */
public record DeviceSpec(FlashSpec flash, boolean isFlashed, ConsoleSpec console) {
    /** The usual way: flash the only connected board. */
    public static final DeviceSpec USUAL = new DeviceSpec(FlashSpec.USUAL, true, ConsoleSpec.OF_BOARD);

    /**
     * Selects the serial port that is a board's console.
     *
     * @param port the port; empty to find it by the board's USB ids
     * @param serial serial number of the USB device; empty if there is only one
     * @param baud bits per second; empty for the board's
     */
    public record ConsoleSpec(Optional<String> port, Optional<String> serial, Optional<Integer> baud) {
        /** The console that the board's description states. */
        public static final ConsoleSpec OF_BOARD =
                new ConsoleSpec(Optional.empty(), Optional.empty(), Optional.empty());

        /** The same console at another rate. */
        public ConsoleSpec atBaud(int rate) {
            return new ConsoleSpec(port, serial, Optional.of(rate));
        }
    }
}
