// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The flash content of a virtual chip: {@link #SIZE} bytes from 0x08000000 on. The file has exactly these bytes, so
 * that QEMU boots it ({@code -M netduinoplus2 -kernel}) and a later run continues with it.
 *
 * @param bytes exactly {@link #SIZE} bytes
 */
public record FlashContent(Bytes bytes) {
    /** Bytes of the flash. */
    public static final int SIZE = 1 << 20;

    public FlashContent {
        if (bytes.size() != SIZE) {
            throw new IllegalArgumentException("a flash of " + bytes.size() + " bytes");
        }
    }

    /** Erased flash: all ones. */
    public static FlashContent erased() {
        byte[] bytes = new byte[SIZE];
        Arrays.fill(bytes, (byte) 0xff);
        return new FlashContent(Bytes.wrap(bytes));
    }

    /**
     * Reads a file written by {@link #save}.
     *
     * @throws KilnException if the file cannot be read or has another size
     */
    public static FlashContent load(Path file) {
        try {
            long size = Files.size(file);
            if (size != SIZE) {
                throw Failure.DEVICE.exception(
                        "the file has " + size + " bytes",
                        file.toString(),
                        SIZE + " bytes, the whole flash of the virtual board",
                        "Delete it: the virtual board starts erased then");
            }
            return new FlashContent(Bytes.wrap(Files.readAllBytes(file)));
        } catch (IOException e) {
            throw new KilnException(Failure.DEVICE.problem("the flash content cannot be read", file.toString()), e);
        }
    }

    /** Writes the content, whole or not at all. */
    public void save(Path file) {
        WholeFiles.write(file, bytes.toArray());
    }

    /** The first bytes of the content. */
    public Bytes start(int size) {
        return Bytes.wrap(Arrays.copyOf(bytes.toArray(), size));
    }
}
