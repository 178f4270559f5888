// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.util.Map;

/** Storage in which some words are fixed: writing them changes nothing. */
final class FixedRegion extends WordRegion {
    private final Map<Integer, Integer> fixed;

    /** Storage with fixed words by their offset. */
    FixedRegion(int base, int size, Map<Integer, Integer> fixed) {
        super(base, size);
        this.fixed = Map.copyOf(fixed);
    }

    @Override
    int readWord(int offset) {
        return fixed.containsKey(offset) ? fixed.get(offset) : super.readWord(offset);
    }

    @Override
    void writeWord(int offset, int value) {
        if (!fixed.containsKey(offset)) {
            super.writeWord(offset, value);
        }
    }
}
