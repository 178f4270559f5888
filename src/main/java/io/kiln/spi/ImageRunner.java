// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/**
 * Writes images to the flash of boards and starts them, for probes that OpenOCD does not know. A service ({@code
 * META-INF/services/io.kiln.spi.ImageRunner}) that boards name in {@code flash.service}. Several boards may be flashed at once.
 */
public interface ImageRunner {
    /**
     * Bytes at an address.
     *
     * @param address where the first one lies
     * @param content the bytes, from the buffer's position to its limit
     */
    record Block(long address, ByteBuffer content) {}

    /**
     * Its name in boards.
     *
     * @return letters, digits, {@code _} and {@code -}
     */
    String name();

    /**
     * The program that it calls, for {@code flash.json}.
     *
     * @return name and version
     */
    String tool();

    /**
     * The probes that are connected.
     *
     * @param options values of the board's description
     * @return a name for each
     */
    List<String> probes(Map<String, String> options);

    /**
     * Writes an image to a board, reads it back and starts it.
     *
     * @param probe one of {@link #probes}
     * @param image what to write, ascending
     * @param options values of the board's description
     * @throws ExtensionFailure if the board does not hold the image
     */
    void flash(String probe, List<Block> image, Map<String, String> options);
}
