// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.util.ArrayList;
import java.util.List;

/** The erasable sectors of 1 MiB: four of 16 KiB, one of 64 KiB, seven of 128 KiB. */
final class FlashSectors {
    static final int COUNT = 12;

    private FlashSectors() {}

    /** First byte of a sector, relative to the start of the flash; for {@link #COUNT}, the end. */
    static int start(int sector) {
        if (sector <= 4) {
            return sector * 0x4000;
        }
        return (sector - 4) * 0x20000;
    }

    /** The sector that contains a byte. */
    static int of(int offset) {
        int sector = COUNT - 1;
        while (start(sector) > offset) {
            sector--;
        }
        return sector;
    }

    /** Numbers of the sectors in a bit mask. */
    static List<Integer> inMask(int mask) {
        List<Integer> sectors = new ArrayList<>();
        for (int sector = 0; sector < COUNT; sector++) {
            if ((mask & 1 << sector) != 0) {
                sectors.add(sector);
            }
        }
        return sectors;
    }
}
