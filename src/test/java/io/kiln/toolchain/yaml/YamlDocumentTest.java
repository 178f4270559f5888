// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.yaml;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Scalars have the types of YAML 1.2's core schema. */
final class YamlDocumentTest {
    @Test
    void wordsThatYaml11TookForValuesAreWords() {
        for (String word : List.of(
                "no",
                "No",
                "yes",
                "on",
                "off",
                "OFF",
                "y",
                "n",
                "1_000",
                "1:30",
                "2026-11-29",
                "0b11",
                "<<",
                "=",
                ".5")) {
            assertThat(read(word)).as(word).isEqualTo("\"" + word + "\"");
        }
    }

    @Test
    void valuesAreValues() {
        assertThat(read("true")).isEqualTo("true");
        assertThat(read("FALSE")).isEqualTo("false");
        assertThat(read("")).isEqualTo("null");
        assertThat(read("~")).isEqualTo("null");
        assertThat(read("Null")).isEqualTo("null");
        assertThat(read("0x20000000")).isEqualTo("536870912");
        assertThat(read("0xFFFFFFFFFFFFFFFF")).isEqualTo("18446744073709551615");
        assertThat(read("0o17")).isEqualTo("15");
        assertThat(read("010")).as("decimal").isEqualTo("10");
        assertThat(read("-7")).isEqualTo("-7");
        assertThat(read("+7")).isEqualTo("7");
        assertThat(read("'true'")).as("quoted").isEqualTo("\"true\"");
    }

    private static String read(String scalar) {
        return YamlDocument.parse("a.yaml", Bytes.wrap(("key: " + scalar).getBytes(UTF_8)))
                .root()
                .get("key")
                .toString();
    }
}
