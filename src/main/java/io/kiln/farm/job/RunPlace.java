// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

/** Where an image runs, as a job asks for it and a worker offers it. */
public enum RunPlace {
    /** An emulator of the board. */
    EMULATOR,
    /** The board itself, with its probe. */
    BOARD
}
