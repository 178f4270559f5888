// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.module.BuiltInModules.ConstantsModule;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Libraries that TVM wrote, and blobs written by hand, with what TVM's loader makes of them. */
class ModuleFixturesTest {
    private static final Set<String> LINKED = Set.of("llvm", "c");

    static List<String> fixtures() throws IOException {
        try (Stream<Path> files = Files.list(folder())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".so.json"))
                    .map(name -> name.substring(0, name.length() - ".so.json".length()))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("fixtures")
    @NeedsShared("tvm")
    void readsAsTvmReadsIt(String name) throws IOException {
        JsonNode json = json(name);
        Path file = folder().resolve(name + ".mblob.bin");
        if (json.has("error")) {
            assertThat(file).doesNotExist();
            return;
        }
        Bytes blob = Bytes.wrap(Files.readAllBytes(file));
        if (json.has("load_error")) {
            assertThatThrownBy(() -> read(blob, name))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(name + ", offset 0x");
            return;
        }
        ModuleTree tree = read(blob, name);
        assertThat(print(tree)).isEqualTo(print(json.get("loaded")));
        assertThat(ModuleBlob.write(tree)).isEqualTo(blob);
    }

    @ParameterizedTest
    @MethodSource("fixtures")
    @NeedsShared("tvm")
    void exportsInTheOrderOfTvm(String name) throws IOException {
        JsonNode json = json(name);
        if (!json.has("before_export")) {
            assertThat(name).startsWith("hand_");
            return;
        }
        List<ModuleNode> graph = graph(json.get("before_export"));
        if (json.has("error")) {
            String message = json.get("error").asText();
            assertThatThrownBy(() -> ModuleExport.tree(graph))
                    .hasMessageContaining(message.substring(message.indexOf("Cannot export")));
            return;
        }
        ModuleTree tree = ModuleExport.tree(graph);
        assertThat(tree.modules().stream().map(ModuleNode::typeKey).toList()).isEqualTo(entryKeys(json));
        JsonNode written = json.get("mblob_entries").get(entryKeys(json).size());
        List<Integer> children = tree.modules().stream()
                .flatMap(module -> module.imports().stream())
                .toList();
        assertThat(children).isEqualTo(numbers(written.get("child_indices")));
        assertThat(IntStream.range(0, tree.modules().size())
                        .mapToObj(i -> tree.modules().get(i).imports().size())
                        .toList())
                .isEqualTo(rows(numbers(written.get("row_ptr"))));
    }

    @ParameterizedTest
    @MethodSource("fixtures")
    @NeedsShared("tvm")
    void refusesEveryCutBlob(String name) throws IOException {
        Path file = folder().resolve(name + ".mblob.bin");
        byte[] blob = Files.exists(file) ? Files.readAllBytes(file) : new byte[8];
        for (int length = 0; length < blob.length; length += 1 + blob.length / 300) {
            Bytes cut = Bytes.wrap(Arrays.copyOf(blob, length));
            assertThatThrownBy(() -> read(cut, name)).hasMessageContaining(name + ", offset 0x");
        }
    }

    private static ModuleTree read(Bytes blob, String name) {
        return ModuleBlob.read(blob, List.of(), ModuleLoaders.installed(), name);
    }

    private static Path folder() {
        return SharedFolder.need("tvm").resolve("modules");
    }

    private static JsonNode json(String name) throws IOException {
        return new ObjectMapper().readTree(folder().resolve(name + ".so.json").toFile());
    }

    private static List<Integer> numbers(JsonNode array) {
        List<Integer> numbers = new ArrayList<>();
        array.forEach(number -> numbers.add(number.asInt()));
        return numbers;
    }

    private static List<Integer> rows(List<Integer> pointers) {
        return IntStream.range(1, pointers.size())
                .mapToObj(i -> pointers.get(i) - pointers.get(i - 1))
                .toList();
    }

    private static List<String> entryKeys(JsonNode json) {
        List<String> keys = new ArrayList<>();
        for (JsonNode entry : json.get("mblob_entries")) {
            String key = entry.get("key").asText();
            if (!key.equals("_import_tree")) {
                keys.add(key.equals("_lib") ? LinkedCode.LIBRARY : key);
            }
        }
        return keys;
    }

    /** Modules of a fixture; those with an id come once, others name it. */
    private static List<ModuleNode> graph(JsonNode root) {
        List<ModuleNode> graph = new ArrayList<>();
        add(root, graph, new HashMap<>());
        return graph;
    }

    private static int add(JsonNode module, List<ModuleNode> graph, Map<Integer, Integer> byId) {
        if (module.has("same_as")) {
            return byId.get(module.get("same_as").asInt());
        }
        int index = graph.size();
        byId.put(module.get("id").asInt(), index);
        String key = module.get("type_key").asText();
        ModulePayload payload = LINKED.contains(key)
                ? new LinkedCode(List.of())
                : new ConstantsModule(List.of(), List.of(), List.of(), List.of());
        graph.add(new ModuleNode(key, payload, List.of()));
        List<Integer> imports = new ArrayList<>();
        for (JsonNode child : module.get("imports")) {
            imports.add(add(child, graph, byId));
        }
        graph.set(index, graph.get(index).importing(imports));
        return index;
    }

    private static String print(JsonNode root) {
        List<ModuleNode> graph = graph(root);
        return print(graph, 0);
    }

    private static String print(ModuleTree tree) {
        return print(tree.modules(), 0);
    }

    private static String print(List<ModuleNode> modules, int index) {
        ModuleNode module = modules.get(index);
        return module.typeKey()
                + module.imports().stream().map(child -> print(modules, child)).toList();
    }
}
