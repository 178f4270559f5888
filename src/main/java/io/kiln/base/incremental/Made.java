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
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The inputs and outputs of a result.
 *
 * @param inputs parts of the {@link Fingerprint} by name
 * @param outputs digests of the files written, by their path below one folder
 */
public record Made(SortedMap<String, String> inputs, SortedMap<String, String> outputs) {
    public Made {
        inputs = new TreeMap<>(inputs);
        outputs = new TreeMap<>(outputs);
    }

    /** A new result with outputs whose digests are known. */
    public static Made of(Fingerprint from, Map<String, String> outputs) {
        return new Made(new TreeMap<>(from.parts()), new TreeMap<>(outputs));
    }

    /**
     * A new result.
     *
     * @param root folder to which the outputs' names are relative
     * @param outputs files below it
     */
    public static Made of(Fingerprint from, Path root, Collection<Path> outputs) {
        Map<String, String> digests = new TreeMap<>();
        outputs.forEach(output ->
                digests.put(root.relativize(output).toString().replace('\\', '/'), Fingerprint.digest(output)));
        return of(from, digests);
    }

    /** Changed inputs: first new and different ones, then missing ones, each by name. */
    public List<Change> changes(Fingerprint now) {
        List<Change> changes = new ArrayList<>();
        now.parts().forEach((name, value) -> {
            if (!Objects.equals(inputs.get(name), value)) {
                changes.add(new Change(name, Optional.ofNullable(inputs.get(name)), Optional.of(value)));
            }
        });
        inputs.forEach((name, value) -> {
            if (!now.parts().containsKey(name)) {
                changes.add(new Change(name, Optional.of(value), Optional.empty()));
            }
        });
        return changes;
    }

    /**
     * Outputs changed since, by name.
     *
     * @param root folder to which their names are relative
     */
    public List<Change> outputChanges(Path root) {
        List<Change> changes = new ArrayList<>();
        outputs.forEach((name, before) -> {
            Optional<String> now = FileDigests.digest(root.resolve(name));
            if (!now.equals(Optional.of(before))) {
                changes.add(new Change(name, Optional.of(before), now));
            }
        });
        return changes;
    }

    /**
     * A changed input or output of a result.
     *
     * @param name name of the input or output
     * @param before its earlier value: a setting, or the digest of a file; empty if it is new
     * @param now its current value; empty if it no longer exists
     */
    public record Change(String name, Optional<String> before, Optional<String> now) {}

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
}
