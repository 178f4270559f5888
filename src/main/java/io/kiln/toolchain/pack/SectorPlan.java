// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.toolchain.pack.MemoryPlan.Region;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.SortedMap;

/** Gives the upper half of the flash to what is flashed by itself, in whole sectors: parameters, or models in slots. */
record SectorPlan(MemoryPlan plan, FlashLayout layout) {
    /** Bytes before the first slot, in which a firmware describes itself. */
    private static final long DESCRIPTION = 256;

    /** Less code and fewer bytes of a model make no firmware. */
    private static final long LEAST = 8L << 10;

    /** Adds the linker scripts; returns the keys of {@code pools}, with their line ends. */
    String write(LinkerText linker, SortedMap<String, Bytes> files) {
        Region code = plan.region(plan.code());
        String lines = "  # Sectors of the flash: " + layout.text() + "\n";
        OptionalLong upper = layout.sectorFrom(code.base() + code.size() / 2, code.end());
        if (upper.isEmpty() || upper.getAsLong() - code.base() < LEAST) {
            return lines;
        }
        long first = upper.getAsLong();
        files.put("memory.parameters.ld", Bytes.ofText(linker.parameters(first)));
        lines += String.format(Locale.ROOT, "  parameters: 0x%08x\n", first);
        OptionalLong second = layout.sectorFrom(first + (code.end() - first) / 2, code.end());
        if (second.isEmpty()) {
            return lines;
        }
        long bytes = Math.min(second.getAsLong() - first, code.end() - second.getAsLong());
        Region data = plan.region(plan.data());
        long half = data.size() / 2 / LEAST * LEAST;
        if (bytes < LEAST || half < LEAST || !isEnd(first + bytes, code) || !isEnd(second.getAsLong() + bytes, code)) {
            return lines;
        }
        files.put("memory.slots.ld", Bytes.ofText(linker.slots(first, bytes, DESCRIPTION, half)));
        return lines
                + String.format(
                        Locale.ROOT,
                        "  slots: {first: 0x%08x, second: 0x%08x, size: %s, memory: 0x%08x}\n",
                        first,
                        second.getAsLong(),
                        BoardText.size(bytes),
                        data.base() + half);
    }

    /** Whether a sector ends there. */
    private boolean isEnd(long address, Region code) {
        return address == code.end()
                || layout.sectorFrom(address, Long.MAX_VALUE).equals(OptionalLong.of(address));
    }
}
