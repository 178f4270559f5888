// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.toolchain.compiler.CompilerDescriptor.Bundle;
import io.kiln.toolchain.compiler.CompilerDescriptor.Family;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlSchema;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads a descriptor file as a {@link CompilerDescriptor}, after checking it against the schema. */
final class DescriptorReader {

    /** Flags for C++ that needs no C++ library. */
    private static final List<String> PLAIN_CPLUSPLUS =
            List.of("-std=gnu++17", "-Wall", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics");

    private DescriptorReader() {}

    /** Holds the schema, which is loaded only for descriptors that are not built in. */
    private static final class Schema {
        static final YamlSchema OF_COMPILERS = new YamlSchema("compiler.schema.json");
    }

    /**
     * Reads a built-in descriptor. Tests have checked it against the schema, so that builds need not.
     *
     * @param name the file, for messages
     */
    static CompilerDescriptor readBuiltIn(String name, Bytes content) {
        return descriptor(YamlDocument.parse(name, content).root());
    }

    /**
     * Reads a descriptor that is not built in.
     *
     * @param name the file, for messages
     * @throws KilnException with all violations of the schema, each with its line
     */
    static CompilerDescriptor read(String name, Bytes content) {
        YamlDocument document = YamlDocument.parse(name, content);
        Problems problems = new Problems(Failure.TOOL);
        Schema.OF_COMPILERS.check(document, problems);
        problems.throwIfAny();
        return descriptor(document.root());
    }

    private static CompilerDescriptor descriptor(JsonNode root) {
        Map<SourceKind, List<String>> sources = new EnumMap<>(SourceKind.class);
        for (SourceKind kind : SourceKind.values()) {
            sources.put(kind, words(root.path("sources").path(kind.text())));
        }
        if (!root.path("sources").has(SourceKind.FOREIGN.text())) {
            sources.put(SourceKind.FOREIGN, sources.get(SourceKind.USER));
        }
        if (!root.path("sources").has(SourceKind.CPLUSPLUS.text())) {
            sources.put(SourceKind.CPLUSPLUS, PLAIN_CPLUSPLUS);
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
                new FlagSets(
                        words(root.path("compile")),
                        sources,
                        optimize,
                        words(root.path("link")),
                        words(root.path("libraries"))),
                families);
    }

    private static Optional<Bundle> bundle(JsonNode node) {
        if (!node.isObject()) {
            return Optional.empty();
        }
        Map<String, String> sha256 = new LinkedHashMap<>();
        node.path("sha256")
                .properties()
                .forEach(entry -> sha256.put(entry.getKey(), entry.getValue().asText()));
        return Optional.of(new Bundle(
                node.path("groupId").asText(),
                node.path("artifactId").asText(),
                node.path("version").asText(),
                node.path("fetchMegabytes").asInt(),
                node.path("diskMegabytes").asInt(),
                sha256));
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
