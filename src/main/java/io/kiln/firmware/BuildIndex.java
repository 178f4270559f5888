// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What each output was made from, kept in a JSON file between builds. A file that cannot be read counts as none. */
final class BuildIndex {
    private static final int FORMAT = 2;

    private BuildIndex() {}

    /**
     * What one output was made from.
     *
     * @param tool version of the compiler and of Kiln
     * @param command digest of the command line
     * @param inputs digest of every file read, by the name that the compiler gave it
     * @param rivals files that were there and have the name of one that was read; another one may now be read in its place
     * @param outputs digest of every file written, by name
     */
    record Entry(
            String tool, String command, Map<String, String> inputs, List<String> rivals, Map<String, String> outputs) {
        Entry {
            inputs = new TreeMap<>(inputs);
            rivals = List.copyOf(rivals);
            outputs = new TreeMap<>(outputs);
        }
    }

    /** The entries by output. */
    static Map<String, Entry> read(Path file) {
        Map<String, Entry> entries = new TreeMap<>();
        Optional<JsonNode> root = parse(file);
        if (root.isPresent() && root.get().path("format").asInt() == FORMAT) {
            root.get().path("entries").properties().forEach(named -> {
                JsonNode node = named.getValue();
                entries.put(
                        named.getKey(),
                        new Entry(
                                node.path("tool").asText(),
                                node.path("command").asText(),
                                digests(node.path("inputs")),
                                names(node.path("rivals")),
                                digests(node.path("outputs"))));
            });
        }
        return entries;
    }

    static void write(Path file, Map<String, Entry> entries) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("format", FORMAT);
        ObjectNode list = root.putObject("entries");
        new TreeMap<>(entries).forEach((name, entry) -> {
            ObjectNode node = list.putObject(name);
            node.put("tool", entry.tool());
            node.put("command", entry.command());
            ObjectNode inputs = node.putObject("inputs");
            entry.inputs().forEach(inputs::put);
            entry.rivals().forEach(node.putArray("rivals")::add);
            ObjectNode outputs = node.putObject("outputs");
            entry.outputs().forEach(outputs::put);
        });
        try {
            ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
            WholeFiles.write(file, mapper.writeValueAsBytes(root));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of text can always be written", e);
        }
    }

    private static Optional<JsonNode> parse(Path file) {
        try {
            return Files.isRegularFile(file)
                    ? Optional.ofNullable(new ObjectMapper().readTree(file.toFile()))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static List<String> names(JsonNode node) {
        List<String> names = new ArrayList<>();
        node.forEach(name -> names.add(name.asText()));
        return names;
    }

    private static Map<String, String> digests(JsonNode node) {
        Map<String, String> digests = new TreeMap<>();
        node.properties()
                .forEach(entry -> digests.put(entry.getKey(), entry.getValue().asText()));
        return digests;
    }
}
