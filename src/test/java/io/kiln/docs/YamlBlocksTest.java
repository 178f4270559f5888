// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The YAML of the pages is read as Kiln reads it, YAML 1.2, and fits the schema of its file. */
class YamlBlocksTest {
    /** A key that only one kind of file has, and its schema. */
    private static final Map<String, String> KINDS = kinds();

    private static Map<String, String> kinds() {
        Map<String, String> kinds = new LinkedHashMap<>();
        kinds.put("steps", "test");
        kinds.put("runs", "plan");
        kinds.put("sampleRate", "preprocess");
        kinds.put("image", "samples");
        kinds.put("inputs", "model");
        for (String key : List.of("extends", "memories", "pools", "flash", "target", "clock", "flags")) {
            kinds.put(key, "board");
        }
        return kinds;
    }

    @Test
    void everyBlockFitsItsSchema() {
        Problems problems = new Problems(Failure.YAML);
        List<DocBlock> blocks = DocBlock.toCheck("yaml", "json");
        assertThat(blocks).hasSizeGreaterThan(12);
        for (DocBlock block : blocks) {
            JsonNode root = document(block, block.text()).root();
            if (block.as().filter("another program's file"::equals).isPresent()) {
                assertThat(root.isContainerNode()).as(block.where()).isTrue();
                continue;
            }
            String kind = KINDS.entrySet().stream()
                    .filter(each -> root.has(each.getKey()))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("none");
            assertThat(kind)
                    .as(block.where() + " is of no kind of file that Kiln has")
                    .isNotEqualTo("none");
            new YamlSchema(kind + ".schema.json").check(document(block, whole(root, block.text())), problems);
        }
        assertThat(problems.list()).isEmpty();
    }

    /** A part of a board's description, in the description of a board that inherits the rest. */
    private static String whole(JsonNode root, String text) {
        return root.has("schema") ? text : "schema: 1\nid: mine\ntitle: Mine\nextends: nucleo-f446re\n" + text;
    }

    private static YamlDocument document(DocBlock block, String text) {
        return YamlDocument.parse(block.where(), Bytes.ofText(text));
    }
}
