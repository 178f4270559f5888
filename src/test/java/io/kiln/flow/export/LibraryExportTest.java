// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Log;
import io.kiln.flow.inspect.Inspector;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpecBuilder;
import io.kiln.module.GraphFactoryModule;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleNode;
import io.kiln.module.SharedLibrary;
import io.kiln.module.host.HostLibrary;
import io.kiln.module.host.HostModel;
import io.kiln.module.host.HostTensor;
import io.kiln.reference.GoldenModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryExportTest {
    @TempDir
    private Path folder;

    @Test
    void aJavaProgramAnswersTheGoldenVectorsOfKws() throws IOException {
        Path golden = GoldenModels.folder("kws_ref_model");
        Path file = export(spec("kws_ref_model", "kws"), false);
        assertThat(file).hasFileName("libkws.so");
        try (HostModel model = HostModel.load(file, "kws")) {
            for (int i = 0; i < 3; i++) {
                Bytes input = Bytes.wrap(Files.readAllBytes(golden.resolve("input_" + i + ".bin")));
                Bytes output = Bytes.wrap(Files.readAllBytes(golden.resolve("output_" + i + ".bin")));
                assertThat(model.run(List.of(input))).containsExactly(output);
            }
            assertThatThrownBy(() -> model.run(List.of())).hasMessageContaining("tvmgen_kws_run has 1 inputs, not 0");
            assertThatThrownBy(() -> model.run(List.of(Bytes.ofText("x")))).hasMessageContaining("490 bytes, not 1");
        }
        assertThatThrownBy(() -> HostModel.load(file, "other"))
                .hasMessageContaining("there is no function `tvmgen_other_get_c_metadata`");
        SharedLibrary library = SharedLibrary.read(file, ModuleLoaders.installed());
        assertThat(library.functions()).contains("tvmgen_kws_run", "tvmgen_kws___tvm_main__");
        assertThat(library.tree().modules()).hasSize(1);
    }

    @Test
    void functionsRefuseWrongArgumentsWithTheirMessage() {
        Path file = export(spec("hello_world_int8", "hello"), false);
        try (HostLibrary library = HostLibrary.load(file)) {
            HostTensor wrong = new HostTensor("x", DType.INT16, List.of(1, 1));
            HostTensor right = new HostTensor("y", DType.INT8, List.of(1, 1));
            assertThatThrownBy(() -> library.call("tvmgen_hello_run", List.of(wrong, right)))
                    .hasMessageContaining("libhello.so: `tvmgen_hello_run` returned -1: ")
                    .hasMessageContaining("dtype is expected to be int8");
            assertThatThrownBy(() -> library.call("tvmgen_hello_run", List.of(right)))
                    .hasMessageContaining("num_args should be 2");
        }
        assertThatThrownBy(() -> HostLibrary.load(folder.resolve("none.so")))
                .hasMessageContaining("none.so: the library cannot be loaded");
    }

    @Test
    void aGraphIsAFactoryThatImportsTheCode() {
        BuildSpec spec =
                builder("hello_world_int8", "hello").executor("graph", false).build();
        Path file = export(spec, false);
        SharedLibrary library = SharedLibrary.read(file, ModuleLoaders.installed());
        assertThat(library.tree().modules().stream().map(ModuleNode::typeKey))
                .containsExactly("GraphExecutorFactory", "library");
        assertThat(library.tree().root().imports()).containsExactly(1);
        GraphFactoryModule factory = (GraphFactoryModule) library.tree().root().payload();
        assertThat(factory.model()).isEqualTo("hello");
        assertThat(factory.parameters()).hasSameSizeAs(factory.names()).isNotEmpty();
        assertThat(factory.graph().text()).contains("tvmgen_hello_fused");
        List<String> lines = new Inspector(spec, "").lines(Optional.of(file));
        assertThat(lines.get(0)).startsWith("Library " + file + ": 2 modules, ");
        assertThat(lines).anyMatch(line -> line.startsWith("  0 GraphExecutorFactory, "));
        assertThat(lines).anyMatch(line -> line.startsWith("    1 library"));
        assertThat(folder.resolve("out/kiln/modules/libhello.so/0-GraphExecutorFactory-graph.json"))
                .hasContent(factory.graph().text());
    }

    @Test
    void artifactsSurviveInTheirLibrary() {
        BuildSpec spec = spec("hello_world_int8", "hello");
        Path file = export(spec, true);
        SharedLibrary library = SharedLibrary.read(file, ModuleLoaders.installed());
        assertThat(library.artifacts().artifacts().stream().map(Artifact::kind))
                .containsExactly(ArtifactKind.PARAMETERS, ArtifactKind.RELAY);
        assertThat(library.artifacts().of(ArtifactKind.RELAY).get(0).text()).contains("def @main");
        assertThat(new Inspector(spec, "").lines(Optional.of(file)))
                .anyMatch(line -> line.startsWith("  artifact hello.relay of code generator c for loader relay"));
    }

    private Path export(BuildSpec spec, boolean withArtifacts) {
        return new LibraryExport(Log.QUIET, spec, withArtifacts).run().get(0);
    }

    private BuildSpec spec(String model, String name) {
        return builder(model, name).build();
    }

    private BuildSpecBuilder builder(String model, String name) {
        Layout layout = new Layout(folder, folder.resolve("out"), name);
        Path file = GoldenModels.folder(model).resolve("model.tflite");
        return BuildSpec.builder(layout, List.of(new ModelSource(file, name)), "host");
    }
}
