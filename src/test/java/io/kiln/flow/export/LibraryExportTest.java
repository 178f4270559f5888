// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Log;
import io.kiln.flow.inspect.Inspector;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CompilerSpec.QuantizeSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.module.BuiltInModules.AotFactoryModule;
import io.kiln.module.BuiltInModules.GraphFactoryModule;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.module.SharedLibrary;
import io.kiln.module.host.HostModel;
import io.kiln.module.host.HostModel.HostLibrary;
import io.kiln.module.host.HostModel.HostTensor;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.QuantizeOptions.Limits;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.OwnModel;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LibraryExportTest {
    @TempDir
    private Path folder;

    @Test
    void aJavaProgramAnswersTheVectorsOfKeywords() throws IOException {
        Path golden = OwnModel.KEYWORDS.folder();
        Path file = export(spec(OwnModel.KEYWORDS, "kws"), false);
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
        assertThat(library.functions()).contains("tvmgen_kws_run", "tvmgen_kws___tvm_main__", "get_c_metadata");
        assertThat(library.tree().modules().stream().map(ModuleNode::typeKey))
                .containsExactly("AotExecutorFactory", "metadata_module", "library");
        assertThat(((AotFactoryModule) library.tree().root().payload()).model()).isEqualTo("kws");
        assertThat(Inspector.lines(file, "?"))
                .containsExactly("disassembly (artifact)", "list-functions (artifact)", "sections (artifact)");
        assertThat(Inspector.lines(file, "list-functions"))
                .startsWith("host/file/libkws.so")
                .anyMatch(line -> line.matches("  tvmgen_kws_run [0-9]+ bytes"));
    }

    /** The answers of models with a state are those of the first run. */
    @Test
    void aModelWithVariablesBeginsAnewWhenItIsReset() throws IOException {
        Path golden = OwnModel.RECURRENT.folder();
        try (HostModel model = HostModel.load(export(spec(OwnModel.RECURRENT, "lstm"), false), "lstm")) {
            int others = 0;
            for (int i = 0; i < 3; i++) {
                Bytes input = Bytes.wrap(Files.readAllBytes(golden.resolve("input_" + i + ".bin")));
                Bytes output = Bytes.wrap(Files.readAllBytes(golden.resolve("output_" + i + ".bin")));
                assertThat(model.run(List.of(input))).containsExactly(output);
                others += model.run(List.of(input)).equals(List.of(output)) ? 0 : 1;
                model.reset();
            }
            assertThat(others).isPositive();
        }
        try (HostModel model = HostModel.load(export(spec(OwnModel.SINE, "hello"), false), "hello")) {
            model.reset();
            assertThat(model.run(List.of(Bytes.wrap(new byte[1])))).hasSize(1);
        }
    }

    @Test
    void functionsRefuseWrongArgumentsWithTheirMessage() {
        Path file = export(spec(OwnModel.SINE, "hello"), false);
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
        BuildSpec spec = builder(OwnModel.SINE, "hello")
                .executor(ExecutorKind.GRAPH, false)
                .build();
        Path file = export(spec, false);
        SharedLibrary library = SharedLibrary.read(file, ModuleLoaders.installed());
        assertThat(library.tree().modules().stream().map(ModuleNode::typeKey))
                .containsExactly("GraphExecutorFactory", "library");
        assertThat(library.tree().root().imports()).containsExactly(1);
        GraphFactoryModule factory = (GraphFactoryModule) library.tree().root().payload();
        assertThat(factory.model()).isEqualTo("hello");
        assertThat(factory.parameters()).hasSameSizeAs(factory.names()).isNotEmpty();
        assertThat(factory.graph().text()).contains("tvmgen_hello_fused");
        List<String> lines = new Inspector(spec, GivenInputs.NONE).lines(Optional.of(file));
        assertThat(lines.get(0)).startsWith("Library " + file + ": 2 modules, ");
        assertThat(lines).anyMatch(line -> line.startsWith("  0 GraphExecutorFactory, "));
        assertThat(lines).anyMatch(line -> line.startsWith("    1 library"));
        assertThat(lines).contains("  no artifacts (kiln.export.artifacts adds them)");
        assertThat(folder.resolve("out/kiln/modules/libhello.so/0-GraphExecutorFactory-graph.json"))
                .hasContent(factory.graph().text());
    }

    @Test
    void artifactsSurviveInTheirLibrary() {
        BuildSpec spec = spec(OwnModel.SINE, "hello");
        Path file = export(spec, true);
        SharedLibrary library = SharedLibrary.read(file, ModuleLoaders.installed());
        assertThat(library.artifacts().artifacts().stream().map(Artifact::kind))
                .containsExactly(ArtifactKind.PARAMETERS, ArtifactKind.RELAY);
        assertThat(library.artifacts().of(ArtifactKind.RELAY).get(0).text()).contains("def @main");
        assertThat(new Inspector(spec, GivenInputs.NONE).lines(Optional.of(file)))
                .anyMatch(line -> line.startsWith("  artifact hello.relay of code generator c for loader relay"));
        String json = Json.text(new Inspector(spec, GivenInputs.NONE).report(Optional.of(file)));
        JsonSchemas.assertFits("inspect", json);
        assertThat(json).contains("\"kind\" : \"library\"", "\"type\" : \"library\"", "\"name\" : \"hello.relay\"");
        String asked = Json.text(Inspector.report(file, "list-functions"));
        JsonSchemas.assertFits("inspect", asked);
        assertThat(asked).contains("\"kind\" : \"text\"");
    }

    @ParameterizedTest
    @CsvSource({"llvm, aot", "llvm -keys=cpu, graph"})
    void objectsAnswerAsTheCOfTheFirmwareDoes(String target, String executor) throws IOException {
        TestToolchains.resolve("clang", "c -mcpu=cortex-m4");
        Path golden = OwnModel.SINE.folder();
        BuildSpec spec = builder(OwnModel.SINE, "hello")
                .executor(ExecutorKind.of(executor), true)
                .target(target)
                .build();
        Path file = export(spec, false);
        assertThat(folder.resolve("out/export/library/hello/hello_lib1.o")).exists();
        if (executor.equals("aot")) {
            try (HostModel model = HostModel.load(file, "hello")) {
                Bytes input = Bytes.wrap(Files.readAllBytes(golden.resolve("input_0.bin")));
                assertThat(model.run(List.of(input)))
                        .containsExactly(Bytes.wrap(Files.readAllBytes(golden.resolve("output_0.bin"))));
                assertThatThrownBy(() -> model.run(List.of())).hasMessageContaining("has 1 inputs, not 0");
            }
        }
    }

    @Test
    void targetsOfFirmwareAreRefused() {
        for (String target : List.of("c -mcpu=cortex-m55", "cmsis-nn -mcpu=cortex-m55, c -mcpu=cortex-m55")) {
            assertThatThrownBy(() -> export(
                            builder(OwnModel.SINE, "hello").target(target).build(), false))
                    .hasMessageContaining(
                            "the target is for the core cortex-m55, and the library is for this computer");
        }
        assertThatThrownBy(() -> export(
                        builder(OwnModel.SINE, "hello").target("cmsis-nn, c").build(), false))
                .hasMessageContaining("functions of `cmsis-nn` call what lies in a firmware project");
    }

    /** The library of a float model that the build quantizes takes and gives int8. */
    @Test
    void whatIsQuantizedIsExportedQuantized() throws IOException {
        FloatNet net = new FloatNet(5);
        Function model = net.function(net.dense(net.input(1, 8), 3));
        RelayPrinter.Module text = RelayPrinter.withParameters(model);
        Files.writeString(folder.resolve("net.relay"), text.text());
        Files.write(
                folder.resolve("net.params"),
                ParameterFile.write(text.parameters()).toArray());
        Path samples = Files.createDirectory(folder.resolve("samples"));
        int number = 0;
        for (Sample sample : FloatNet.samples(model, 4, 1)) {
            Files.write(
                    samples.resolve("input_" + number++ + ".bin"),
                    sample.inputs().get(0).toArray());
        }
        QuantizeSpec quantize = new QuantizeSpec(
                QuantizeSpec.options("int8", "minmax", "auto", "int8", "", Limits.NONE),
                Optional.of(samples),
                Optional.empty());
        BuildSpec spec =
                builder(folder.resolve("net.relay"), "net").quantize(quantize).build();
        try (HostModel library = HostModel.load(export(spec, false), "net")) {
            assertThat(library.run(List.of(Bytes.wrap(new byte[8]))).get(0).size())
                    .isEqualTo(3);
        }
    }

    private Path export(BuildSpec spec, boolean withArtifacts) {
        return new LibraryExport(Log.QUIET, spec, TestToolchains.environment(Log.QUIET), withArtifacts)
                .run()
                .get(0);
    }

    private BuildSpec spec(OwnModel model, String name) {
        return builder(model, name).build();
    }

    private SpecDraft builder(OwnModel model, String name) {
        return builder(model.model(), name);
    }

    private SpecDraft builder(Path file, String name) {
        Layout layout = new Layout(folder, folder.resolve("out"), name);
        return SpecDraft.of(layout, List.of(new ModelSource(file, name)), "host");
    }
}
