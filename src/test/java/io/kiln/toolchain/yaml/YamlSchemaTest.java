// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.yaml;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A key that a file's schema lacks is refused at its line, with the nearest one that it has. */
final class YamlSchemaTest {
    @Test
    void anUnknownKeyIsToldWithTheNearestOne() {
        assertThat(problems("board", """
            id: my-board
            extends: mps2-an386
            emulater:
              kind: qemu
            memories:
              - {name: flash, origin: 0, lenght: 1024}
            flash:
              programs:
                jlinc: {device: x}
                pyocd: {target: x}
            zzzzzzzzzz: 1
            """))
                .contains(
                        "board.yaml:9: unknown key \"jlinc\". Did you mean jlink? See board.schema.json for the"
                                + " allowed keys.",
                        "board.yaml:3: unknown key \"emulater\". Did you mean emulator? See board.schema.json for the"
                                + " allowed keys.",
                        "board.yaml:11: unknown key \"zzzzzzzzzz\". Remove it or see board.schema.json for the allowed"
                                + " keys.");
        assertThat(problems("preprocess", "sampleRat: 16000\n"))
                .contains("preprocess.yaml:1: unknown key \"sampleRat\". Did you mean sampleRate? See"
                        + " preprocess.schema.json for the allowed keys.");
    }

    /** Wherever a schema names keys, it refuses others: none would be read, and none is passed over. */
    @ParameterizedTest
    @ValueSource(strings = {"board", "compiler", "core", "model", "plan", "preprocess", "samples", "test"})
    void noPlaceTakesOtherKeys(String kind) throws Exception {
        JsonNode schema = new ObjectMapper()
                .readTree(Path.of("toolchains/schemas/" + kind + ".schema.json").toFile());
        List<String> open = new ArrayList<>();
        int closed = objects(schema, "", open);
        assertThat(closed).isPositive();
        assertThat(open).isEmpty();
    }

    /** Counts places with names of keys; {@code open} gets those that also take others. */
    private static int objects(JsonNode node, String pointer, List<String> open) {
        int count = 0;
        if (node.path("properties").isObject() && !pointer.endsWith("/properties")) {
            count++;
            boolean refusesOthers = node.path("additionalProperties").isBoolean()
                    && !node.path("additionalProperties").booleanValue();
            if (!refusesOthers && !node.path("propertyNames").has("enum")) {
                open.add(pointer);
            }
        }
        for (Map.Entry<String, JsonNode> field : node.properties()) {
            count += objects(field.getValue(), pointer + "/" + field.getKey(), open);
        }
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            count += objects(node.get(i), pointer + "/" + i, open);
        }
        return count;
    }

    private static List<String> problems(String kind, String text) {
        Problems problems = new Problems(Failure.YAML);
        new YamlSchema(kind + ".schema.json")
                .check(YamlDocument.parse(kind + ".yaml", Bytes.wrap(text.getBytes(UTF_8))), problems);
        return problems.list().stream().map(Problem::text).toList();
    }
}
