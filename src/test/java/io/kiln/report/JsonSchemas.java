// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;

/** Holds JSON text against the schemas that Kiln ships. */
public final class JsonSchemas {
    private static final SchemaRegistryConfig ENGLISH =
            SchemaRegistryConfig.builder().locale(Locale.ROOT).build();

    private JsonSchemas() {}

    /** Fails unless the text fits {@code toolchains/schemas/<name>.schema.json}. */
    public static void assertFits(String name, String json) {
        assertThat(violations(name, json)).isEmpty();
    }

    /** What the schema has against the text. */
    public static List<String> violations(String name, String json) {
        return violationsOf("/toolchains/schemas/" + name + ".schema.json", json);
    }

    /** What the schema of CycloneDX 1.5, with the schemas that it names, has against the text. */
    public static List<String> violationsOfCycloneDx(String json) {
        SchemaRegistry registry = SchemaRegistry.withDefaultDialect(
                SpecificationVersion.DRAFT_7,
                builder -> builder.schemaRegistryConfig(ENGLISH)
                        .schemaIdResolvers(ids -> ids.mapPrefix("http://cyclonedx.org/schema/", "classpath:")));
        return registry
                .getSchema(SchemaLocation.of("http://cyclonedx.org/schema/bom-1.5.schema.json"))
                .validate(json, InputFormat.JSON)
                .stream()
                .map(Error::toString)
                .toList();
    }

    /** What a schema among the resources has against the text. */
    public static List<String> violationsOf(String resource, String json) {
        try (InputStream in = JsonSchemas.class.getResourceAsStream(resource)) {
            Schema schema = SchemaRegistry.withDefaultDialect(
                            SpecificationVersion.DRAFT_2020_12, registry -> registry.schemaRegistryConfig(ENGLISH))
                    .getSchema(in, InputFormat.JSON);
            return schema.validate(json, InputFormat.JSON).stream()
                    .map(Error::toString)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
