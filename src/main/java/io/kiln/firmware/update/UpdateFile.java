// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An update: the region of the same models for each slot, one after the other.
 *
 * @param regions at least one, signed
 */
public record UpdateFile(List<ModelRegion> regions) {
    private static final int MOST_BYTES = 256 << 20;
    private static final int MOST_REGIONS = 16;

    public UpdateFile {
        regions = List.copyOf(regions);
    }

    /** The file's content. */
    public Bytes bytes() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        regions.forEach(region -> out.writeBytes(region.bytes().toArray()));
        return Bytes.wrap(out.toByteArray());
    }

    /**
     * Reads a file.
     *
     * @throws KilnException if it cannot be read or is not an update
     */
    public static UpdateFile read(Path file) {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw Failure.UPDATE.exception(
                        "not an update: it is larger than " + MOST_BYTES + " bytes", file.toString());
            }
            return read(Bytes.wrap(Files.readAllBytes(file)), file.toString());
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /**
     * Reads a file's content.
     *
     * @param where the file, for messages
     * @throws KilnException if it is not an update
     */
    public static UpdateFile read(Bytes content, String where) {
        ByteBuffer rest = content.buffer();
        List<ModelRegion> regions = new ArrayList<>();
        do {
            regions.add(ModelRegion.read(rest, where));
        } while (rest.hasRemaining() && regions.size() < MOST_REGIONS);
        if (rest.hasRemaining()) {
            throw Failure.UPDATE.exception("not an update: it has more than " + MOST_REGIONS + " regions", where);
        }
        return new UpdateFile(regions);
    }

    /** The region for the slot at an address. */
    public Optional<ModelRegion> at(long address) {
        return regions.stream().filter(region -> region.address() == address).findFirst();
    }
}
