// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

/**
 * How an image gets to a board and is talked to there.
 *
 * @param flash how it gets there
 * @param isFlashed whether it is to be brought there at all, or the board is taken as it is
 * @param console the line that it talks on
 */
public record DeviceSpec(FlashSpec flash, boolean isFlashed, ConsoleSpec console) {
    /** The only board that there is, flashed. */
    public static final DeviceSpec USUAL = new DeviceSpec(FlashSpec.USUAL, true, ConsoleSpec.OF_BOARD);
}
