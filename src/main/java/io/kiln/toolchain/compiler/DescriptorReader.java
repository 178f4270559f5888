// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.toolchain.compiler.CompilerDescriptor.Bundle;
import io.kiln.toolchain.compiler.CompilerDescriptor.Family;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Turns a descriptor file into a {@link CompilerDescriptor}, holding it against the schema first. */
final class DescriptorReader {
    private static final String SCHEMA = "/toolchains/schemas/compiler.schema.json";
    private static final int MAX_BYTES = 64 * 1024;

    private DescriptorReader() {}

    /**
     * Reads a descriptor that comes with Kiln. The tests have held it against the schema, so that builds need not.
     *
     * @param name the file, for messages
     */
    static CompilerDescriptor readBuiltIn(String name, Bytes content) {
        return descriptor(parse(name, content));
    }

    /**
     * Reads a descriptor of somebody else.
     *
     * @param name the file, for messages
     * @throws KilnException with everything that the schema refuses
     */
    static CompilerDescriptor read(String name, Bytes content) {
        JsonNode root = parse(name, content);
        Problems problems = new Problems();
        for (Error error : schema().validate(root)) {
            problems.add(error.getInstanceLocation() + " " + error.getMessage(), name, "", "");
        }
        problems.throwIfAny();
        return descriptor(root);
    }

    private static JsonNode parse(String name, Bytes content) {
        if (content.size() > MAX_BYTES) {
            throw new KilnException(
                    new Problem("the file is too large", name, "a descriptor of at most " + MAX_BYTES + " bytes", ""));
        }
        YAMLFactory factory = YAMLFactory.builder()
                .enable(com.fasterxml.jackson.core.StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build();
        try (JsonParser parser = factory.createParser(content.text())) {
            JsonNode root = new ObjectMapper(factory).readTree(parser);
            if (root == null || !root.isObject()) {
                throw new KilnException(
                        new Problem("this is not a mapping of keys to values", name, "a compiler descriptor", ""));
            }
            return root;
        } catch (JacksonException e) {
            JsonLocation at = e.getLocation();
            String where = at == null ? name : name + ":" + at.getLineNr();
            throw new KilnException(Problem.of("this is not YAML: " + e.getOriginalMessage(), where), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Schema schema() {
        try (InputStream in = DescriptorReader.class.getResourceAsStream(SCHEMA)) {
            return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                    .getSchema(in, InputFormat.JSON);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static CompilerDescriptor descriptor(JsonNode root) {
        Map<SourceKind, List<String>> sources = new EnumMap<>(SourceKind.class);
        for (SourceKind kind : SourceKind.values()) {
            sources.put(kind, words(root.path("sources").path(kind.text())));
        }
        if (!root.path("sources").has(SourceKind.FOREIGN.text())) {
            sources.put(SourceKind.FOREIGN, sources.get(SourceKind.USER));
        }
        Map<Optimize, List<String>> optimize = new EnumMap<>(Optimize.class);
        for (Optimize choice : Optimize.values()) {
            optimize.put(choice, words(root.path("optimize").path(choice.text())));
        }
        Map<String, Family> families = new LinkedHashMap<>();
        root.path("families").properties().forEach(entry -> families.put(entry.getKey(), family(entry.getValue())));
        return new CompilerDescriptor(
                root.path("id").asText(),
                root.path("title").asText(),
                root.path("library").asText().equals("shims"),
                bundle(root.path("bundle")),
                words(root.path("compile")),
                sources,
                optimize,
                words(root.path("link")),
                words(root.path("libraries")),
                families);
    }

    private static Optional<Bundle> bundle(JsonNode node) {
        if (!node.isObject()) {
            return Optional.empty();
        }
        return Optional.of(new Bundle(
                node.path("groupId").asText(),
                node.path("artifactId").asText(),
                node.path("version").asText(),
                node.path("fetchMegabytes").asInt(),
                node.path("diskMegabytes").asInt()));
    }

    private static Family family(JsonNode node) {
        Map<String, List<String>> cpus = new LinkedHashMap<>();
        node.path("cpus").properties().forEach(entry -> cpus.put(entry.getKey(), words(entry.getValue())));
        return new Family(
                node.path("compiler").asText(),
                node.path("install").asText(""),
                words(node.path("flags")),
                words(node.path("link")),
                cpus);
    }

    private static List<String> words(JsonNode array) {
        List<String> words = new ArrayList<>();
        array.forEach(item -> words.add(item.asText()));
        return List.copyOf(words);
    }
}
