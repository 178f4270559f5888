// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.yaml;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A JSON Schema of {@code toolchains/schemas} for descriptors. */
public final class YamlSchema {
    /** The configuration of the validator, which has messages in 27 languages, and takes the computer's unless it is told. */
    private static final SchemaRegistryConfig ENGLISH =
            SchemaRegistryConfig.builder().locale(Locale.ROOT).build();

    private final String file;
    private final JsonNode content;
    private final Schema schema;

    /**
     * Reads a schema.
     *
     * @param file its name, such as {@code board.schema.json}
     */
    public YamlSchema(String file) {
        this.file = file;
        try (InputStream in = YamlSchema.class.getResourceAsStream("/toolchains/schemas/" + file)) {
            byte[] bytes = in.readAllBytes();
            content = new ObjectMapper().readTree(bytes);
            schema = SchemaRegistry.withDefaultDialect(
                            SpecificationVersion.DRAFT_2020_12, registry -> registry.schemaRegistryConfig(ENGLISH))
                    .getSchema(new String(bytes, StandardCharsets.UTF_8), InputFormat.JSON);
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
            if (error.getProperty() != null && "additionalProperties".equals(error.getKeyword())) {
                problems.add(
                        "unknown key \"" + error.getProperty() + "\"",
                        where.apply(pointer + "/" + error.getProperty()),
                        "",
                        nearest(error).orElse("Remove it or see " + file + " for the allowed keys"));
            } else {
                String label = pointer.isEmpty() ? "" : pointer.substring(1).replace('/', '.') + ": ";
                problems.add(label + error.getMessage(), where.apply(pointer), "", "");
            }
        }
    }

    /** The allowed keys nearest to an unknown one, as a question; empty if none is near. */
    private Optional<String> nearest(Error error) {
        NodePath keyword = error.getSchemaLocation().getFragment();
        JsonNode place = content;
        for (int i = 0; i < keyword.getNameCount() - 1; i++) {
            String name = String.valueOf(keyword.getElement(i));
            place = place.isArray() ? place.path(Integer.parseInt(name)) : place.path(name);
        }
        List<String> allowed = new ArrayList<>();
        place.path("properties").fieldNames().forEachRemaining(allowed::add);
        return Optional.of(NearMiss.didYouMean(error.getProperty(), allowed)).filter(question -> !question.isEmpty());
    }

    private static String pointer(NodePath path) {
        StringBuilder pointer = new StringBuilder();
        for (int i = 0; i < path.getNameCount(); i++) {
            pointer.append('/').append(path.getElement(i));
        }
        return pointer.toString();
    }
}
