// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.ModelLibraryFormat.Options;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The graph of a model, its parameters and its archive. */
final class GraphArchiveTest {
    private static final String TARGET = "c -keys=cpu -model=host";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(
            value = OwnModel.class,
            names = {"KEYWORDS", "VISION", "RESIDUAL"})
    void noOperatorWritesWhatIsStillNeeded(OwnModel model) throws IOException {
        JsonNode graph = graph(compile(model, ExecutorKind.GRAPH, false));
        List<Integer> rows = numbers(graph.get("node_row_ptr"));
        List<Integer> storage = numbers(graph.get("attrs").get("storage_id").get(1));
        keysAreTvms(graph);
        assertThat(new HashSet<>(storage))
                .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(
                                0, storage.stream().mapToInt(i -> i).max().orElse(0))
                        .boxed()
                        .toList());
        int[] holder = new int[storage.size()];
        Set<String> names = new HashSet<>();
        int shared = 0;
        for (int node = 0; node < graph.get("nodes").size(); node++) {
            JsonNode read = graph.get("nodes").get(node);
            assertThat(names.add(read.get("name").asText())).isTrue();
            for (JsonNode input : read.get("inputs")) {
                int entry = rows.get(input.get(0).asInt()) + input.get(1).asInt();
                assertThat(entry).isLessThan(rows.get(node));
                assertThat(holder[storage.get(entry)])
                        .as("input of node " + node)
                        .isEqualTo(entry);
            }
            boolean isView = read.path("attrs").path("func_name").asText().equals("__nop");
            for (int entry = rows.get(node); entry < rows.get(node + 1); entry++) {
                int id = storage.get(entry);
                if (isView) {
                    // Whoever reads the input later reads the same bytes.
                    assertThat(storage.get(entry - 1)).isEqualTo(id);
                }
                shared += holder[id] != 0 && !isView ? 1 : 0;
                holder[id] = entry;
            }
        }
        for (JsonNode head : graph.get("heads")) {
            int entry = rows.get(head.get(0).asInt()) + head.get(1).asInt();
            assertThat(holder[storage.get(entry)]).as("output").isEqualTo(entry);
        }
        assertThat(shared).as("storage that is used again").isPositive();
    }

    private static void keysAreTvms(JsonNode graph) {
        assertThat(graph.fieldNames())
                .toIterable()
                .containsExactly("nodes", "arg_nodes", "heads", "attrs", "node_row_ptr");
        assertThat(graph.get("attrs").fieldNames())
                .toIterable()
                .containsExactly("dltype", "device_index", "storage_id", "shape");
    }

    @Test
    void parametersLieInTheCOrInTheFile() throws IOException {
        ModelLibrary linked = compile(OwnModel.SINE, ExecutorKind.GRAPH, true);
        ModelLibrary apart = compile(OwnModel.SINE, ExecutorKind.GRAPH, false);
        assertThat(parameters(linked)).isEmpty();
        assertThat(linked.artifacts()
                        .of(ArtifactKind.PARAMETERS)
                        .get(0)
                        .content()
                        .size())
                .isEqualTo(32);
        List<String> given = new ArrayList<>();
        graph(apart).get("nodes").forEach(node -> {
            if (node.get("op").asText().equals("null")) {
                given.add(node.get("name").asText());
            }
        });
        assertThat(given.get(0)).isEqualTo(apart.metadata().inputs().get(0).name());
        assertThat(parameters(apart))
                .extracting(NamedTensor::name)
                .containsExactlyInAnyOrderElementsOf(given.subList(1, given.size()))
                .contains("p0", "p1");
        assertThat(graph(linked).get("arg_nodes")).hasSize(1);
        assertThat(source(linked)).contains("static const").contains(".rodata.tvm");
        assertThat(source(apart)).doesNotContain(".rodata.tvm");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 7})
    void anArchiveHasGraphRuntimeAndStorageIds(int version) throws IOException {
        ModelLibrary library = compile(OwnModel.KEYWORDS, ExecutorKind.GRAPH, false);
        SortedMap<String, Bytes> files = archive(library, version);
        JsonNode metadata = json(files.get("metadata.json").text());
        JsonNode model = version == 7 ? metadata.get("modules").get("m") : metadata;
        assertThat(files)
                .containsKeys(
                        version == 7 ? "executor-config/graph/m.graph" : "executor-config/graph/graph.json",
                        "parameters/m.params",
                        "codegen/host/src/m_lib0.c",
                        "codegen/host/src/m_lib1.c",
                        "runtime/include/tvm/runtime/crt/graph_executor.h",
                        "runtime/src/runtime/crt/graph_executor/graph_executor.c",
                        "runtime/src/runtime/crt/graph_executor_module/graph_executor_module.c");
        assertThat(model.get("executors")).hasSize(1);
        assertThat(model.get("executors").get(0).asText()).isEqualTo("graph");
        JsonNode sids = model.get("memory").get("sids");
        assertThat(sids.get(0).get("input_binding").asText()).isEqualTo("input_1");
        assertThat(sids.get(0).get("size_bytes").asLong()).isEqualTo(490);
        long workspace = 0;
        for (int id = 0; id < sids.size(); id++) {
            assertThat(sids.get(id).get("storage_id").asInt()).isEqualTo(id);
            workspace += sids.get(id).has("input_binding")
                    ? 0
                    : sids.get(id).get("size_bytes").asLong();
        }
        JsonNode main = model.get("memory").get("functions").get("main").get(0);
        assertThat(main.get("workspace_size_bytes").asLong()).isGreaterThanOrEqualTo(workspace);
        assertThat(main.get("io_size_bytes").asLong()).isEqualTo(502);
    }

    @Test
    void operatorsThatNothingCallsInOrderAreAnArchiveOfTheirOwnStyle() throws IOException {
        ModelLibrary library = compile(OwnModel.KEYWORDS, ExecutorKind.NONE, true);
        SortedMap<String, Bytes> files = archive(library, 7);
        JsonNode metadata = json(files.get("metadata.json").text());
        assertThat(metadata.get("style").asText()).isEqualTo("operator");
        assertThat(metadata.get("executors")).isEmpty();
        assertThat(metadata.has("modules")).isFalse();
        List<String> functions = library.metadata().api().functions();
        assertThat(metadata.get("memory").fieldNames()).toIterable().containsExactlyInAnyOrderElementsOf(functions);
        JsonNode first = metadata.get("memory").get(functions.get(0));
        assertThat(first.get(0).get("size_bytes").asLong()).isEqualTo(490);
        assertThat(first.get(0).get("dtype").asText()).isEqualTo("int8");
        assertThat(first.get(0).get("input_binding").asText()).isEqualTo("input0");
        assertThat(files.keySet()).noneMatch(path -> path.startsWith("executor-config"));
        assertThat(source(library)).contains("TVMSystemLibEntryPoint").doesNotContain("___tvm_main__", "tvmgen_m_run");
        assertThatThrownBy(
                        () -> ModelLibraryFormat.write(List.of(library, library), Options.of(7, Optional.empty(), "1")))
                .isInstanceOf(KilnException.class);
    }

    @Test
    void whatDoesNotFitTogetherIsRefused() {
        RequestDraft pool = request(OwnModel.SINE).executor(ExecutorKind.GRAPH).io(Io.WORKSPACE);
        assertThatThrownBy(pool::build).hasMessageContaining("kiln.io is workspace with kiln.executor graph");
        RequestDraft apart = request(OwnModel.SINE).linked(false);
        assertThatThrownBy(apart::build).hasMessageContaining("kiln.linkParams is false with kiln.executor aot");
        assertThat(ExecutorKind.of("none")).isEqualTo(ExecutorKind.NONE);
        assertThatThrownBy(() -> ExecutorKind.of("vm")).hasMessageContaining("one of aot, graph, none");
    }

    private static RequestDraft request(OwnModel model) {
        return RequestDraft.of(model.model(), TARGET).name("m");
    }

    private static ModelLibrary compile(OwnModel model, ExecutorKind executor, boolean linked) {
        return ModelCompiler.compile(request(model)
                        .executor(executor)
                        .linked(linked)
                        .packed(PackedOptions.USUAL)
                        .build())
                .library();
    }

    private SortedMap<String, Bytes> archive(ModelLibrary library, int version) {
        Path file = folder.resolve("m.tar");
        WholeFiles.write(
                file,
                ModelLibraryFormat.write(List.of(library), Options.of(version, Optional.empty(), "1"))
                        .toArray());
        return ModelLibraryFormat.files(file);
    }

    private static JsonNode graph(ModelLibrary library) throws IOException {
        return json(library.artifacts().of(ArtifactKind.GRAPH).get(0).text());
    }

    private static List<NamedTensor> parameters(ModelLibrary library) {
        return ParameterFile.read(
                library.artifacts().of(ArtifactKind.PARAMETERS).get(0).content(), "m.params");
    }

    private static String source(ModelLibrary library) {
        StringBuilder text = new StringBuilder();
        library.artifacts().of(ArtifactKind.SOURCE).forEach(source -> text.append(source.text()));
        return text.toString();
    }

    private static JsonNode json(String text) throws IOException {
        return new ObjectMapper().readTree(text);
    }

    private static List<Integer> numbers(JsonNode list) {
        List<Integer> numbers = new ArrayList<>();
        list.forEach(number -> numbers.add(number.asInt()));
        return numbers;
    }
}
