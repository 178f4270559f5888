// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.Operators;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.ModelLibraryFormat.Options;
import io.kiln.reference.Interpreter;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An archive's own Relay text and parameters make the same C again. */
class ArchiveTextTest {
    @TempDir
    private Path folder;

    private static CompileRequest request(Path model, boolean slim) {
        return RequestDraft.of(model, "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                .name("net")
                .slim(slim)
                .build();
    }

    /** Layers, residuals, an LSTM's state, pools with TensorFlow Lite's rounding, floats. */
    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void theArchivesOwnTextMakesTheSameFiles(OwnModel own) throws IOException {
        CompiledModel model = ModelCompiler.compile(request(own.model(), false));
        Path text = unpack(model);

        CompiledModel again = ModelCompiler.compile(request(text, false));

        assertThat(files(again)).isEqualTo(files(model));
        List<Bytes> inputs = own.inputs(0);
        assertThat(Interpreter.run(again.imported(), inputs)).isEqualTo(Interpreter.run(model.imported(), inputs));
    }

    /** The text and the parameters out of the archive's tar, as a model beside its parameters. */
    private Path unpack(CompiledModel model) throws IOException {
        Path tar = folder.resolve("net.tar");
        Files.write(
                tar,
                ModelLibraryFormat.write(List.of(model.library()), Options.of(7, Optional.empty(), "1"))
                        .toArray());
        SortedMap<String, Bytes> files = ModelLibraryFormat.files(tar);
        Path text = folder.resolve("net.relay");
        Files.write(text, files.get("src/net.relay").toArray());
        Files.write(
                folder.resolve("net.params"), files.get("parameters/net.params").toArray());
        return text;
    }

    /** All files; only the model's own name, in their headings, may differ. */
    private static Map<String, String> files(CompiledModel model) {
        return model.library().artifacts().artifacts().stream()
                .collect(Collectors.toMap(
                        Artifact::fileName,
                        a -> a.kind() == ArtifactKind.PARAMETERS
                                ? String.valueOf(a.content().toArray().length)
                                : a.content().text().replaceAll("\\b(net\\.relay|model\\.tflite)", "the model")));
    }

    /** The parameters of a graph are those that its executor loads; the text has its own constants. */
    @ParameterizedTest
    @CsvSource({"KEYWORDS, true", "RECURRENT, false"})
    void anArchiveWithAGraphHoldsItsModelToo(OwnModel own, boolean linked) throws IOException {
        CompiledModel model = ModelCompiler.compile(graph(own, linked, false));
        CompiledModel again = ModelCompiler.compile(request(unpack(model), false));

        assertThat(again.imported()).isEqualTo(model.imported());
        assertThat(files(again)).isEqualTo(files(ModelCompiler.compile(request(own.model(), false))));
        CompiledModel slim = ModelCompiler.compile(graph(own, linked, true));
        assertThat(text(slim)).contains("The data of the").doesNotContain("#[metadata]");
        assertThat(parameters(slim)).isEqualTo(parameters(model));
    }

    private static CompileRequest graph(OwnModel own, boolean linked, boolean slim) {
        return RequestDraft.of(own.model(), "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                .name("net")
                .slim(slim)
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, linked))
                .build();
    }

    /** With operators that TVM does not have comes the file that registers them there. */
    @Test
    void aTextBringsWhatTvmNeedsToReadIt() throws IOException {
        assertThat(archive(OwnModel.KEYWORDS)).containsKey("src/kiln_relay.py");
        assertThat(archive(OwnModel.FLOAT_SINE)).doesNotContainKey("src/kiln_relay.py");
        String registered = archive(OwnModel.KEYWORDS).get("src/kiln_relay.py").text();
        Set<String> names = Set.of(registered.split("\"\"\"", -1)[3].strip().split("\\s+"));
        Set<String> operators = Operators.ALL.stream()
                .map(signature -> signature.name().equals("tfl.if") ? If.SPELLED : signature.name())
                .map(name -> name.startsWith("tfl.") ? name.substring(4) : name)
                .collect(Collectors.toSet());
        assertThat(names).isEqualTo(operators);
    }

    private SortedMap<String, Bytes> archive(OwnModel own) throws IOException {
        unpack(ModelCompiler.compile(request(own.model(), false)));
        return ModelLibraryFormat.files(folder.resolve("net.tar"));
    }

    @Test
    void aSlimArchiveHasNoData() {
        Path file = OwnModel.KEYWORDS.model();
        Function imported = TfliteFrontend.read(file, "net");
        CompiledModel whole = ModelCompiler.compile(request(file, false), imported);
        CompiledModel slim = ModelCompiler.compile(request(file, true), imported);

        assertThat(parameters(slim)).isEqualTo(ParameterFile.write(List.of()));
        assertThat(ParameterFile.read(parameters(whole), "net.params")).isNotEmpty();
        assertThat(text(slim)).contains("The data of the").doesNotContain("#[metadata]");
        assertThat(slim.library().artifacts().of(ArtifactKind.SOURCE))
                .isEqualTo(whole.library().artifacts().of(ArtifactKind.SOURCE));
    }

    private static String text(CompiledModel model) {
        return model.library().artifacts().of(ArtifactKind.RELAY).get(0).text();
    }

    private static Bytes parameters(CompiledModel model) {
        return model.library().artifacts().of(ArtifactKind.PARAMETERS).get(0).content();
    }
}
