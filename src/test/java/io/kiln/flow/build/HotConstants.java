// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Where the tables of an image's operators lie, by how often they are read. */
final class HotConstants {
    private final List<Tables> tables = new ArrayList<>();

    /**
     * The tables of an operator.
     *
     * @param reads counted: each multiply-accumulate reads a weight, each element of the output what rescales it
     * @param bytes their sizes
     * @param highest the address of the last one
     */
    private record Tables(String operator, long reads, long bytes, long highest) {
        double heat() {
            return (double) reads / bytes;
        }
    }

    HotConstants(JsonNode report, ElfFile elf) {
        List<String> names = new ArrayList<>();
        report.path("operators")
                .forEach(operator -> names.add(operator.path("name").asText()));
        for (JsonNode operator : report.path("operators")) {
            String name = operator.path("name").asText();
            List<Symbol> own = elf.symbols().stream()
                    .filter(symbol -> symbol.size() > 0 && isTableOf(name, symbol.name(), names))
                    .toList();
            long written = 1;
            for (JsonNode dimension : operator.at("/outputs/0/shape")) {
                written *= dimension.asLong();
            }
            if (!own.isEmpty()) {
                tables.add(new Tables(
                        name,
                        operator.path("executedMacs").asLong() + written,
                        own.stream()
                                .mapToLong(symbol -> (symbol.size() + 15) & -16)
                                .sum(),
                        own.stream().mapToLong(Symbol::value).max().orElseThrow()));
            }
        }
        tables.sort(Comparator.comparingDouble(Tables::heat).reversed());
    }

    /** A table has the name of its operator and one of its own; names of operators may begin with each other's. */
    private static boolean isTableOf(String operator, String symbol, List<String> operators) {
        return symbol.startsWith(operator + "_")
                && operators.stream()
                        .noneMatch(other -> other.length() > operator.length()
                                && (symbol.equals(other) || symbol.startsWith(other + "_")));
    }

    /** Those read most often for their size lie below an address, as long as there is room; colder ones fill what is left. */
    void assertLieBelow(long address, long room) {
        long left = room;
        long inside = 0;
        for (Tables each : tables) {
            boolean fits = each.bytes <= left;
            assertThat(each.highest < address)
                    .as("%s, %d bytes, %.1f reads of each, %d bytes left", each.operator, each.bytes, each.heat(), left)
                    .isEqualTo(fits);
            left -= fits ? each.bytes : 0;
            inside += fits ? each.reads : 0;
        }
        long reads = tables.stream().mapToLong(Tables::reads).sum();
        assertThat(tables).hasSizeGreaterThan(10).anyMatch(each -> each.highest >= address);
        assertThat(inside).as("reads of the fast memory, of %d", reads).isGreaterThan(reads / 10 * 9);
    }
}
