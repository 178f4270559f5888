// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.toolchain.pack.PackReader.Property;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * The sectors of a flash memory.
 *
 * @param runs of sectors of one size, by address
 */
record FlashLayout(List<Run> runs) {
    /** Open-CMSIS-Pack, flash algorithms: the structure FlashDevice, and its fields' offsets. */
    private static final String SYMBOL = "FlashDevice";

    private static final String SECTION = "DevDscr";
    private static final int ADDRESS = 132;
    private static final int SIZE = 136;
    private static final int SECTORS = 160;
    private static final int MOST_RUNS = 512;
    private static final long ALL_BITS = 0xffffffffL;

    FlashLayout {
        runs = List.copyOf(runs);
    }

    /**
     * Sectors of one size.
     *
     * @param start address of the first one
     * @param sector bytes of each
     */
    record Run(long start, long sector, long count) {
        long end() {
            return start + sector * count;
        }
    }

    /**
     * Reads the table in a flash algorithm ({@code .FLM}), an ELF file. The algorithm is never run.
     *
     * @return empty if the file has no such table, or a broken one
     */
    static Optional<FlashLayout> ofAlgorithm(String name, Bytes file) {
        try {
            ElfFile elf = ElfFile.read(file, name);
            Optional<Long> symbol = elf.symbolValue(SYMBOL);
            return elf.sections().stream()
                    .filter(section -> section.hasContent()
                            && (symbol.isPresent()
                                    ? section.isAllocated() && section.contains(symbol.get())
                                    : section.name().equals(SECTION)))
                    .findFirst()
                    .flatMap(section -> table(elf, section, symbol.orElse(section.address()) - section.address()));
        } catch (KilnException e) {
            return Optional.empty(); // what the pack does not tell becomes a question to the user
        }
    }

    private static Optional<FlashLayout> table(ElfFile elf, Section section, long offset) {
        byte[] bytes = elf.bytes(section);
        int from = Math.toIntExact(offset);
        if (bytes.length - from < SECTORS + 2 * Integer.BYTES) {
            return Optional.empty();
        }
        ByteBuffer table =
                ByteBuffer.wrap(bytes, from, bytes.length - from).slice().order(ByteOrder.LITTLE_ENDIAN);
        long base = table.getInt(ADDRESS) & ALL_BITS;
        long size = table.getInt(SIZE) & ALL_BITS;
        List<Run> runs = new ArrayList<>();
        int entries = Math.min(MOST_RUNS, (table.limit() - SECTORS) / (2 * Integer.BYTES));
        for (int i = 0; i < entries; i++) {
            int at = SECTORS + 2 * Integer.BYTES * i;
            long sector = table.getInt(at) & ALL_BITS;
            long start = table.getInt(at + Integer.BYTES) & ALL_BITS;
            if (sector == ALL_BITS && start == ALL_BITS) {
                return runs.isEmpty() ? Optional.empty() : Optional.of(new FlashLayout(runs));
            }
            boolean isLast = i + 1 >= entries || (table.getInt(at + 2 * Integer.BYTES) & ALL_BITS) == ALL_BITS;
            long end = isLast ? size : table.getInt(at + 3 * Integer.BYTES) & ALL_BITS;
            if (sector == 0 || end <= start || end > size || (end - start) % sector != 0) {
                return Optional.empty();
            }
            runs.add(new Run(base + start, sector, (end - start) / sector));
        }
        return Optional.empty();
    }

    /**
     * Reads the same from a pack's description.
     *
     * @return empty if its numbers make no layout
     */
    static Optional<FlashLayout> ofInfo(Property info) {
        List<Run> runs = new ArrayList<>();
        long start = info.number("start");
        for (Property part : info.parts()) {
            long size = part.number("size");
            long count = part.element().equals("block") ? part.number("count") : 1;
            if (size <= 0 || count <= 0 || count > ALL_BITS / size || start + size * count > ALL_BITS) {
                return Optional.empty();
            }
            if (part.element().equals("block")) {
                runs.add(new Run(start, size, count));
            }
            start += size * count;
        }
        return runs.isEmpty() ? Optional.empty() : Optional.of(new FlashLayout(runs));
    }

    /** Whether it tells where the sectors of an address are. */
    boolean covers(long address) {
        return runs.stream().anyMatch(run -> address >= run.start() && address < run.end());
    }

    /** The first sector that begins at an address or behind it, and ends before another one. */
    OptionalLong sectorFrom(long address, long end) {
        for (Run run : runs) {
            long index = Math.max(0, -Math.floorDiv(run.start() - address, run.sector()));
            long start = run.start() + index * run.sector();
            if (index < run.count() && start + run.sector() <= end) {
                return OptionalLong.of(start);
            }
        }
        return OptionalLong.empty();
    }

    /** For people: {@code 4 × 16K, 1 × 64K, 7 × 128K}. */
    String text() {
        return runs.stream()
                .map(run -> String.format(Locale.ROOT, "%d × %s", run.count(), BoardText.size(run.sector())))
                .collect(Collectors.joining(", "));
    }
}
