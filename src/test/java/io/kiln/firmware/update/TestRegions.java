// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.firmware.update.ModelRegion.DeviceModels.UpdateFile;
import io.kiln.firmware.update.SlottedFirmware.RegionHeader;
import java.util.List;
import java.util.Random;

/** Regions without models in them. */
public final class TestRegions {
    /** Digest of their interface. */
    public static final Bytes INTERFACE = Bytes.ofText("sixteen bytes...");

    private TestRegions() {}

    /** An update whose regions have so many bytes behind their headers. */
    public static UpdateFile update(UpdateKey key, String version, List<Long> slots, int bytes) {
        return new UpdateFile(slots.stream()
                .map(address -> region(address, version, "0.0.0", "board", INTERFACE, bytes)
                        .signed(key))
                .toList());
    }

    static ModelRegion region(long address, String version, String minimum, String board, Bytes digest, int bytes) {
        byte[] linked = new byte[ModelRegion.HEADER_BYTES + bytes];
        new Random(bytes).nextBytes(linked);
        return new RegionHeader(
                        address,
                        UpdateVersion.parse(version, ""),
                        UpdateVersion.parse(minimum, ""),
                        board,
                        "default",
                        digest,
                        new RegionHeader.Memory(0x20010000, 64, 0x20010000, 0))
                .before(linked);
    }
}
