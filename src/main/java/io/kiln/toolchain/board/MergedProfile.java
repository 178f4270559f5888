// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Bytes;
import io.kiln.toolchain.yaml.YamlDocument;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A profile and those it extends, nearest first. A key comes as a whole from the nearest profile that has it; so does a
 * file. In {@code console} and {@code clock} each key is inherited separately, because their parts are independent, unlike those of an
 * emulator or a flash runner. README files and descriptors are not inherited.
 */
record MergedProfile(String id, List<Layer> layers) {
    /**
     * One board.yaml with the files of its folder.
     *
     * @param untrusted {@code group:artifact:version:id}, if it is from a repository and untrusted
     * @param pack of the device, if it was made from one
     */
    record Layer(
            YamlDocument document, SortedMap<String, Bytes> files, Optional<String> untrusted, Optional<Pack> pack) {
        /**
         * The pack that a profile was made from.
         *
         * @param place file or folder
         * @param most clock of the core that the device takes, in hertz; empty if the pack does not tell
         */
        record Pack(Path place, OptionalLong most) {}

        boolean foreign() {
            return untrusted.isPresent();
        }
    }

    MergedProfile {
        layers = List.copyOf(layers);
    }

    private static final Set<String> BY_PARTS = Set.of("clock", "console");

    /** The nearest value of a top-level key, or of each of its parts for {@code console} and {@code clock}. */
    Optional<JsonNode> find(String key) {
        List<JsonNode> values = layers.stream()
                .map(layer -> layer.document().root().get(key))
                .filter(node -> node != null && !node.isNull())
                .toList();
        if (!BY_PARTS.contains(key) || values.isEmpty()) {
            return values.stream().findFirst();
        }
        ObjectNode merged = JsonNodeFactory.instance.objectNode();
        for (JsonNode value : values) {
            value.properties().forEach(part -> merged.putIfAbsent(part.getKey(), part.getValue()));
        }
        return Optional.of(merged);
    }

    /** Whether the nearest profile with one key inherits the other one from further up. */
    boolean isNearer(String key, String other) {
        return depth(key) < depth(other);
    }

    private int depth(String key) {
        return (int) layers.stream()
                .takeWhile(layer -> !layer.document().root().hasNonNull(key))
                .count();
    }

    /** File and line of a JSON pointer, in the profile that its top-level key comes from. */
    String where(String pointer) {
        return origin(pointer).where(pointer);
    }

    /** File, line and column of a JSON pointer, as {@link #where}. */
    String exactly(String pointer) {
        return origin(pointer).exactly(pointer);
    }

    private YamlDocument origin(String pointer) {
        String key = pointer.isEmpty() ? "" : pointer.split("/", -1)[1];
        String deep = BY_PARTS.contains(key) ? pointer : "/" + key;
        return layers.stream()
                .filter(layer ->
                        !key.isEmpty() && !layer.document().root().at(deep).isMissingNode())
                .findFirst()
                .orElse(layers.get(0))
                .document();
    }

    SortedMap<String, Bytes> files() {
        TreeMap<String, Bytes> files = new TreeMap<>();
        owners().forEach((name, layer) -> files.put(name, layer.files().get(name)));
        return files;
    }

    /** The pack of the board's device, if a profile names one. */
    Optional<Layer.Pack> pack() {
        return layers.stream().flatMap(layer -> layer.pack().stream()).findFirst();
    }

    /** The coordinates of each untrusted layer. */
    List<String> untrusted() {
        return layers.stream().flatMap(layer -> layer.untrusted().stream()).toList();
    }

    /** The files of untrusted layers. */
    Set<String> foreignFiles() {
        TreeSet<String> names = new TreeSet<>();
        owners().forEach((name, layer) -> {
            if (layer.foreign()) {
                names.add(name);
            }
        });
        return names;
    }

    /** The profile that each file comes from. */
    private SortedMap<String, Layer> owners() {
        TreeMap<String, Layer> owners = new TreeMap<>();
        for (int i = layers.size() - 1; i >= 0; i--) {
            Layer layer = layers.get(i);
            boolean own = i == 0;
            for (String name : layer.files().keySet()) {
                if (own || !(name.equals(BoardFiles.DESCRIPTOR) || name.equals("README.md"))) {
                    owners.put(name, layer);
                }
            }
        }
        return owners;
    }

    /** The path of a file in messages; a file that none of the profiles has counts to the nearest one. */
    String fileWhere(String name) {
        return owners().getOrDefault(name, layers.get(0)).document().name().replace(BoardFiles.DESCRIPTOR, name);
    }

    String origin() {
        return layers.get(0).document().name();
    }
}
