// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.BusFault;
import io.kiln.device.probe.thumb.Memory;
import java.util.ArrayList;
import java.util.List;

/** Dispatches accesses to the first region that contains the address. An address outside all regions faults. */
final class SystemBus implements Memory {
    private final List<Region> regions = new ArrayList<>();
    private Region last;
    private long writes;

    SystemBus(Region first) {
        regions.add(first);
        last = first;
    }

    void attach(Region region) {
        regions.add(region);
    }

    /** Number of writes: if it is unchanged, memory is unchanged. */
    long writes() {
        return writes;
    }

    @Override
    public int read(int address, int size) {
        return region(address).read(address, size);
    }

    @Override
    public void write(int address, int size, int value) {
        writes++;
        region(address).write(address, size, value);
    }

    private Region region(int address) {
        if (last.holds(address)) {
            return last;
        }
        for (Region region : regions) {
            if (region.holds(address)) {
                last = region;
                return region;
            }
        }
        throw new BusFault(address);
    }
}
