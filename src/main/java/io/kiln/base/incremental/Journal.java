// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Inputs and outputs of results, kept in a JSON file between builds. An unreadable file, such as one damaged by a power failure, counts as empty. */
public record Journal(Path file) {
    private static final int FORMAT = 3;

    /** The results by name. */
    public Map<String, Made> read() {
        Map<String, Made> results = new TreeMap<>();
        Optional<JsonNode> root = parse();
        if (root.isPresent() && root.get().path("format").asInt() == FORMAT) {
            root.get()
                    .path("results")
                    .properties()
                    .forEach(named -> results.put(
                            named.getKey(),
                            new Made(
                                    texts(named.getValue().path("inputs")),
                                    texts(named.getValue().path("outputs")))));
        }
        return results;
    }

    /** The result of this name; empty if unknown. */
    public Optional<Made> read(String name) {
        return Optional.ofNullable(read().get(name));
    }

    /** Replaces the results in the file. */
    public void write(Map<String, Made> results) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("format", FORMAT);
        ObjectNode list = root.putObject("results");
        new TreeMap<>(results).forEach((name, result) -> {
            ObjectNode node = list.putObject(name);
            result.inputs().forEach(node.putObject("inputs")::put);
            result.outputs().forEach(node.putObject("outputs")::put);
        });
        try {
            ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
            WholeFiles.write(file, mapper.writeValueAsBytes(root));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of text can always be written", e);
        }
    }

    /** Deletes the content before outputs are touched, so that a run that fails half-way never counts as finished. */
    public void forget() {
        WholeFiles.delete(file);
    }

    private Optional<JsonNode> parse() {
        try {
            return Files.isRegularFile(file)
                    ? Optional.ofNullable(new ObjectMapper().readTree(Files.readAllBytes(file)))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static SortedMap<String, String> texts(JsonNode node) {
        SortedMap<String, String> texts = new TreeMap<>();
        node.properties()
                .forEach(entry -> texts.put(entry.getKey(), entry.getValue().asText()));
        return texts;
    }
}
