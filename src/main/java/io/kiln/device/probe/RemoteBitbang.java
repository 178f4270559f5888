// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.io.ByteArrayOutputStream;

/**
 * OpenOCD's remote_bitbang protocol: one character per command. '0' to '7' drive TCK, TMS and TDI; 'R' reads TDO; 'r'
 * to 'u' drive the reset lines; 'B' and 'b' switch an LED; 'Q' ends.
 */
final class RemoteBitbang {
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
