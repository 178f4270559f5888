// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The table of the keys of board.yaml in the page about boards is made from the schema. {@code mvn test
 * -Dtest=BoardReferenceTest -Dkiln.reference.write=true} makes it anew.
 */
class BoardReferenceTest {
    private static final Path PAGE = Path.of("src/site/markdown/boards.md");
    private static final String BEGIN = "<!-- made from toolchains/schemas/board.schema.json -->\n";
    private static final String END = "<!-- end of what is made -->\n";

    private final JsonNode schema;
    private final List<String> rows = new ArrayList<>();
    private final List<String> undescribed = new ArrayList<>();

    BoardReferenceTest() throws IOException {
        schema = new ObjectMapper()
                .readTree(Path.of("toolchains/schemas/board.schema.json").toFile());
    }

    @Test
    void theTableOfKeysIsThatOfTheSchemaAndEveryKeyIsDescribed() throws IOException {
        keys("", schema);
        assertThat(undescribed).as("keys without a description").isEmpty();
        assertThat(rows).hasSizeGreaterThan(30);
        String table = "| key | values | meaning |\n|---|---|---|\n" + String.join("", rows);
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(begin).isLessThanOrEqualTo(end);
        if (Boolean.getBoolean("kiln.reference.write")) {
            Files.writeString(PAGE, page.substring(0, begin) + table + page.substring(end));
        } else {
            assertThat(page.substring(begin, end))
                    .as("stale: mvn test -Dtest=BoardReferenceTest -Dkiln.reference.write=true makes it anew")
                    .isEqualTo(table);
        }
    }

    private void keys(String prefix, JsonNode node) {
        Set<String> required = new HashSet<>();
        node.path("required").forEach(name -> required.add(name.asText()));
        for (Map.Entry<String, JsonNode> property : node.path("properties").properties()) {
            String key = prefix + property.getKey();
            JsonNode value = resolved(property.getValue());
            String meaning = property.getValue()
                    .path("description")
                    .asText(value.path("description").asText(""));
            if (meaning.isEmpty()) {
                undescribed.add(key);
            }
            String must = required.contains(property.getKey()) ? " Required." : "";
            rows.add("| `" + key + "` | " + values(value) + " | " + meaning.replace("|", "\\|") + must + " |\n");
            keys(key + ".", value);
            value.path("oneOf").forEach(choice -> keys(key + ".", choice));
            if (value.has("items")) {
                keys(key + "[].", resolved(value.get("items")));
            }
        }
    }

    private JsonNode resolved(JsonNode node) {
        return node.has("$ref") ? schema.at(node.get("$ref").asText().substring(1)) : node;
    }

    private String values(JsonNode node) {
        if (node.has("const")) {
            return "`" + node.get("const").asText() + "`";
        }
        if (node.has("enum")) {
            List<String> names = new ArrayList<>();
            node.get("enum").forEach(name -> names.add("`" + name.asText() + "`"));
            return String.join(", ", names);
        }
        for (String choice : List.of("oneOf", "anyOf")) {
            if (node.has(choice) && !node.has("properties")) {
                List<String> kinds = new ArrayList<>();
                node.get(choice).forEach(kind -> kinds.add(values(resolved(kind))));
                return String.join("; or ", kinds);
            }
        }
        if (node.path("type").asText().equals("array")) {
            return "list of " + values(resolved(node.get("items")));
        }
        if (node.path("type").asText().equals("integer") && node.has("minimum")) {
            return node.get("minimum").asText() + " to " + node.path("maximum").asText("∞");
        }
        return switch (node.path("type").asText()) {
            case "object" -> "keys";
            case "boolean" -> "`true`, `false`";
            case "integer" -> "number";
            default -> "text";
        };
    }
}
