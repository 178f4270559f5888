// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Metadata of archives in which one value has another type. */
final class AlienMetadataTest {
    private static final String METADATA = "metadata.json";
    /** What nothing depends on. */
    private static final Set<String> PAPERWORK = Set.of(
            "export_datetime",
            "io_size_bytes",
            "device",
            "external_dependencies",
            "short_name",
            "url",
            "url_type",
            "version_spec");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v4", "v5", "v6", "v7"})
    void everyWrongTypeIsNamedByItsKey(String version) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        TvmArchive archive = TvmArchive.of(version);
        Path good = archive.save(folder.resolve("good.tar"));
        JsonNode whole = ModelLibraryFormat.metadata("good.tar", ModelLibraryFormat.files(good));
        SortedMap<String, Bytes> files = ModelLibraryFormat.files(good);
        for (List<String> path : paths(whole)) {
            for (String alien : List.of("null", "{}", "[]", "[[3]]", "true", "-1.5", "1e99", "\"\\u0000\"")) {
                JsonNode root = whole.deepCopy();
                JsonNode parent = root;
                for (String key : path.subList(0, path.size() - 1)) {
                    parent = parent.isArray() ? parent.get(Integer.parseInt(key)) : parent.get(key);
                }
                String last = path.get(path.size() - 1);
                if (parent instanceof ArrayNode list) {
                    list.set(Integer.parseInt(last), mapper.readTree(alien));
                } else {
                    ((ObjectNode) parent).set(last, mapper.readTree(alien));
                }
                files.put(METADATA, Bytes.ofText(mapper.writeValueAsString(root)));
                if (path.stream().noneMatch(PAPERWORK::contains) && isRead(version, path, alien)) {
                    assertThat(catchThrowable(() -> ModelLibraryFormat.read("net.tar", files)))
                            .as(path + " " + alien)
                            .isInstanceOf(KilnException.class)
                            .hasMessageContaining(path.stream()
                                    .filter(key -> !key.matches("[0-9]"))
                                    .reduce("", (a, b) -> b));
                }
            }
        }
    }

    /** Version 7 takes names from the keys of modules; lists may be empty where nothing has to be in them, and Relay text tells of tensors, too. */
    private static boolean isRead(String version, List<String> path, String alien) {
        String last = path.get(path.size() - 1);
        boolean isName = version.equals("v7") && last.equals("model_name");
        boolean mayBeEmpty = Map.of("[]", Set.of("operator_functions", "workspace"), "{}", Set.of("inputs", "outputs"))
                .getOrDefault(alien, Set.of())
                .contains(last);
        return !isName && !mayBeEmpty;
    }

    private static List<List<String>> paths(JsonNode node) {
        List<List<String>> paths = new ArrayList<>();
        List<String> keys = new ArrayList<>();
        if (node.isObject()) {
            node.fieldNames().forEachRemaining(keys::add);
        }
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            keys.add(String.valueOf(i));
        }
        for (String key : keys) {
            paths.add(List.of(key));
            JsonNode child = node.isArray() ? node.get(Integer.parseInt(key)) : node.get(key);
            for (List<String> deeper : paths(child)) {
                List<String> path = new ArrayList<>(List.of(key));
                path.addAll(deeper);
                paths.add(path);
            }
        }
        return paths;
    }
}
