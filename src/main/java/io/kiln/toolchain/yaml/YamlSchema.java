// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.yaml;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.path.NodePath;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** A JSON Schema of {@code toolchains/schemas} for descriptors. */
public final class YamlSchema {
    /** The configuration of the validator, which has messages in 27 languages, and takes the computer's unless it is told. */
    private static final SchemaRegistryConfig ENGLISH =
            SchemaRegistryConfig.builder().locale(Locale.ROOT).build();

    /** What refuses keys. */
    private static final List<String> KEYS = List.of("additionalProperties", "propertyNames");

    private final String file;
    private final Schema schema;

    /**
     * Reads a schema.
     *
     * @param file its name, such as {@code board.schema.json}
     */
    public YamlSchema(String file) {
        this.file = file;
        try (InputStream in = YamlSchema.class.getResourceAsStream("/toolchains/schemas/" + file)) {
            schema = SchemaRegistry.withDefaultDialect(
                            SpecificationVersion.DRAFT_2020_12, registry -> registry.schemaRegistryConfig(ENGLISH))
                    .getSchema(in, InputFormat.JSON);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds every violation with its line. */
    public void check(YamlDocument document, Problems problems) {
        check(document, document::where, problems);
    }

    /** Adds every violation with its line and column. */
    public void checkExactly(YamlDocument document, Problems problems) {
        check(document, document::exactly, problems);
    }

    private void check(YamlDocument document, UnaryOperator<String> where, Problems problems) {
        for (Error error : schema.validate(document.root())) {
            String pointer = pointer(error.getInstanceLocation());
            List<String> keys = keys(error);
            if (!keys.isEmpty()) {
                String question = NearMiss.didYouMean(error.getProperty(), keys);
                problems.add(
                        "unknown key \"" + error.getProperty() + "\"",
                        where.apply(pointer + "/" + error.getProperty()),
                        "",
                        (question.isEmpty() ? "Remove it or see " : question + " See ") + file
                                + " for the allowed keys");
            } else {
                String label = pointer.isEmpty() ? "" : pointer.substring(1).replace('/', '.') + ": ";
                problems.add(label + error.getMessage(), where.apply(pointer));
            }
        }
    }

    /** All keys that the schema has where it refuses another one; none if it refuses something else, or keys by their spelling. */
    private List<String> keys(Error error) {
        List<String> keys = new ArrayList<>();
        if (error.getProperty() != null && KEYS.contains(error.getKeyword())) {
            String parent = pointer(error.getSchemaLocation().getFragment().getParent());
            JsonNode at = schema.getSchemaNode().at(parent);
            if (error.getKeyword().equals(KEYS.get(0))) {
                at.path("properties").fieldNames().forEachRemaining(keys::add);
            } else {
                at.path(KEYS.get(1)).path("enum").forEach(name -> keys.add(name.textValue()));
            }
        }
        return keys;
    }

    private static String pointer(NodePath path) {
        StringBuilder pointer = new StringBuilder();
        for (int i = 0; i < path.getNameCount(); i++) {
            pointer.append('/').append(path.getElement(i));
        }
        return pointer.toString();
    }
}
