// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

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
}
