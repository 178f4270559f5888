// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Translates addresses of code and constants of one image to another image that was linked from the same objects. An address keeps its distance to
 * the symbol to which it belongs; where it has none, or only one image has it, to the symbol before.
 */
public final class ImageAddresses {
    private final NavigableMap<Long, Long> distances = new TreeMap<>();

    private ImageAddresses(Map<String, List<Long>> from, Map<String, List<Long>> to) {
        from.forEach((name, addresses) -> {
            List<Long> others = to.getOrDefault(name, List.of());
            for (int i = 0; others.size() == addresses.size() && i < others.size(); i++) {
                distances.put(addresses.get(i), others.get(i) - addresses.get(i));
            }
        });
    }

    /** Addresses of one image in another. */
    public static ImageAddresses of(ElfFile from, ElfFile to) {
        return new ImageAddresses(addresses(from), addresses(to));
    }

    private static Map<String, List<Long>> addresses(ElfFile elf) {
        Map<String, List<Long>> byName = new TreeMap<>();
        elf.symbols().stream()
                .filter(symbol -> (symbol.isFunction() || symbol.isObject()) && symbol.size() > 0)
                .sorted(Comparator.comparingLong(Symbol::value))
                .forEach(symbol -> {
                    // Functions of one file may be named like those of another, but hardly with the same size.
                    List<Long> all =
                            byName.computeIfAbsent(symbol.name() + " " + symbol.size(), key -> new ArrayList<>());
                    long address = symbol.isFunction() ? symbol.value() & ~1L : symbol.value();
                    if (!all.contains(address)) {
                        all.add(address);
                    }
                });
        return byName;
    }

    /** The address in the other image. */
    public long of(long address) {
        Map.Entry<Long, Long> symbol = distances.floorEntry(address);
        return symbol == null ? address : address + symbol.getValue();
    }
}
