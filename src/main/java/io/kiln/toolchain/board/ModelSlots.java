// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.List;

/**
 * The slots in a board's flash for models that are replaced in the field.
 *
 * @param first address of the first slot, the start of a flash sector; images are flashed with their models there
 * @param second address of the second slot, the start of another flash sector
 * @param bytes of each slot, whole flash sectors
 * @param memory first address of the RAM that is left to the models, up to the end of the memory of variables
 */
public record ModelSlots(long first, long second, long bytes, long memory) {
    /** Bytes before the first slot, in which a firmware describes itself. */
    public static final int FIRMWARE_BYTES = 256;

    /** Slots begin and end at multiples of this number of bytes, the unit in which update files are written. */
    public static final int ALIGNMENT = 32;

    /** The addresses of both slots. */
    public List<Long> addresses() {
        return List.of(first, second);
    }
}
