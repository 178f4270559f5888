// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.Memory;

/** A range of the address space; accesses have full addresses and are known to start inside. */
abstract class Region implements Memory {
    private final int base;
    private final int size;

    Region(int base, int size) {
        this.base = base;
        this.size = size;
    }

    final boolean holds(int address) {
        return Integer.compareUnsigned(address - base, size) < 0;
    }

    final int offset(int address) {
        return address - base;
    }
}
