// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.toolchain.fence.LinkerScript.ScriptIncludes;
import io.kiln.toolchain.fence.Refusals.Refusal;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ScriptIncludesTest {
    private static SortedMap<String, String> nested(int levels, int times) {
        SortedMap<String, String> scripts = new TreeMap<>();
        for (int i = 0; i < levels; i++) {
            scripts.put("s" + i + ".ld", ("INCLUDE s" + (i + 1) + ".ld\n").repeat(times));
        }
        scripts.put("s" + levels + ".ld", "_top = 1;\n");
        return scripts;
    }

    @Test
    void usualScriptsPass() {
        assertThat(ScriptIncludes.refusal(nested(3, 2))).isEmpty();
        assertThat(ScriptIncludes.refusal(new TreeMap<>())).isEmpty();
    }

    @Test
    void scriptsThatReadEachOtherAMillionMillionTimesAreRefused() {
        assertThat(ScriptIncludes.refusal(nested(12, 10)))
                .hasValueSatisfying(
                        refusal -> assertThat(refusal.what()).contains("reads others more than 1000 times"));
        assertThat(ScriptIncludes.refusal(nested(64, 2))).isPresent();
        assertThat(ScriptIncludes.refusal(nested(1, 1000))).isEmpty();
        assertThat(ScriptIncludes.refusal(nested(1, 1001))).isPresent();
    }

    @Test
    void theBytesThatALinkerReadsAreLimited() {
        SortedMap<String, String> scripts = nested(1, 100);
        scripts.put("s1.ld", "/*" + "x".repeat(1 << 18) + "*/");
        assertThat(ScriptIncludes.refusal(scripts)).isPresent();
    }

    /** Without a limit each beginning of a comment is compared with all text behind it. */
    @Test
    void commentsThatDoNotEndAreReadOnce() {
        String text = "/* ".repeat(300_000);
        assertThat(LinkerScript.refusals("a.ld", text, Set.of()))
                .extracting(Refusal::what)
                .containsExactly("a comment that does not end");
        assertThat(LinkerScript.includes(text)).isEmpty();
    }

    @Test
    void aCircleHasNoEnd() {
        SortedMap<String, String> scripts = nested(2, 1);
        scripts.put("s2.ld", "SECTIONS { INCLUDE s0.ld }");
        assertThat(ScriptIncludes.refusal(scripts))
                .hasValueSatisfying(
                        refusal -> assertThat(refusal.what()).isEqualTo("INCLUDE of a script that includes itself"));
        scripts.put("s2.ld", "INCLUDE \"s2.ld\"");
        assertThat(ScriptIncludes.refusal(scripts)).isPresent();
    }
}
