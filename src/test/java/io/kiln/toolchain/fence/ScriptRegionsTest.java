// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScriptRegionsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 512K; 8000000; 80000",
                "FLASH(rx):ORIGIN=0x08000000,LENGTH=0x80000; 8000000; 80000",
                "FLASH (rx) : org = 0x08000000, len = 1m - 2k /* kept */; 8000000; ff800",
                "FLASH : o = (1 << 27) + 16K, l = 2 * (64K + 64) / 2; 8004000; 10040",
                "FLASH (rx) : ORIGIN = base, LENGTH = 512K-4K; 10000000; 7f000",
                "FLASH (rx) : ORIGIN = 0x08000000 | 0x10, LENGTH = 777 & 0xf0; 8000010; 0",
                "FLASH (rx) : ORIGIN = 0x08000000, LENGTH = DEFINED(a) ? 1M : 2M; 8000000; none",
                "FLASH (rx) : ORIGIN = start, LENGTH = 1M / 0; none; none",
                "FLASH (rx) : ORIGIN = 0xffffffffffffffff0, LENGTH = 0777; none; none",
                "FLASH (rx) : ORIGIN = 1 2, LENGTH = 3 4; none; none",
            })
    void numbersAreThoseThatALinkerComputes(String memory, String base, String size) {
        String script =
                "base = 0x10000000;\nMEMORY\n{\n  " + memory + "\n  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 4K\n}\n";
        List<ScriptRegions.Region> regions = ScriptRegions.of("a.ld", new TreeMap<>(Map.of("a.ld", script)));
        assertThat(regions).extracting(ScriptRegions.Region::name).containsExactly("FLASH", "RAM");
        assertThat(regions.get(0).base().map(Long::toHexString).orElse("none")).isEqualTo(base);
        assertThat(regions.get(0).size().map(Long::toHexString).orElse("none")).isEqualTo(size);
        assertThat(regions.get(1))
                .isEqualTo(new ScriptRegions.Region("RAM", Optional.of(0x20000000L), Optional.of(4096L), "a.ld", 5));
    }

    @Test
    void scriptsThatAreIncludedCount() {
        Map<String, String> scripts = Map.of(
                "all.ld",
                "/* µ: MEMORY { X : ORIGIN = 1, LENGTH = 2 } */\nINCLUDE \"parts.ld\"\nSECTIONS { .text : { MEMORY = 3; *(.text) } > A }",
                "parts.ld",
                "MEMORY {\n  A (r!wx) : ORIGIN = 0, LENGTH = 1K B : ORIGIN = ORIGIN(A) + LENGTH(A), LENGTH = 2K\n INCLUDE more.ld\n}\nINCLUDE all.ld",
                "more.ld",
                "\nC : ORIGIN = 8K, LENGTH = 1");
        List<ScriptRegions.Region> regions = ScriptRegions.of("all.ld", new TreeMap<>(scripts));
        assertThat(regions)
                .extracting(region -> region.name() + " " + region.base().orElseThrow() + " "
                        + region.size().orElseThrow() + " " + region.file() + ":" + region.line())
                .containsExactly("A 0 1024 parts.ld:2", "B 1024 2048 parts.ld:2", "C 8192 1 more.ld:2");
        assertThat(ScriptRegions.read("all.ld", new TreeMap<>(scripts))).isEqualTo(scripts.keySet());
    }
}
