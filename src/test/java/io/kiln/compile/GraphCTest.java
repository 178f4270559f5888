// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models on the graph executor of the C runtime, on this computer. */
final class GraphCTest {
    private static final String TARGET = "c -keys=cpu -model=host";
    private static final List<String> STRICT = List.of("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror");

    /** Views, several outputs, variables, functions that operators call, wide elements. */
    private static final List<String> FEW = List.of(
            "hello_world_int8", "kws_ref_model", "ad01_int8", "trained_lstm_int8", "str_ww_ref_model", "seanet_conv0");

    @TempDir
    private Path folder;

    @Test
    @NeedsShared("golden")
    void goldenModelsAnswerBitExact() throws IOException {
        List<String> models = System.getProperty("kiln.golden", "").equals("all")
                ? Stream.concat(GoldenModels.INTEGER.stream(), GoldenModels.SINGLE_OPERATORS.stream())
                        .toList()
                : FEW;
        answer(models.stream().map(GoldenModels::folder).toList());
    }

    @Test
    void ownModelsAnswerBitExact() throws IOException {
        answer(List.of(OwnModel.SINE, OwnModel.KEYWORDS, OwnModel.RECURRENT, OwnModel.WIDE_CONV).stream()
                .map(OwnModel::folder)
                .toList());
    }

    /** Each model with its constants in the C, and with parameters in a file. */
    private void answer(List<Path> models) throws IOException {
        List<ModelLibrary> libraries = new ArrayList<>();
        for (Path model : models) {
            String name = model.getFileName().toString();
            libraries.add(compile(model, name, true));
            libraries.add(compile(model, name + "_params", false));
        }
        GraphHost host = GraphHost.build(folder, SystemLibrary.shared(libraries), STRICT);
        for (int i = 0; i < libraries.size(); i++) {
            ModelLibrary library = libraries.get(i);
            Path golden = models.get(i / 2);
            for (int k = 0; k < 2; k++) {
                Bytes input = Bytes.wrap(Files.readAllBytes(golden.resolve("input_" + k + ".bin")));
                assertThat(host.run(library, input).toArray())
                        .as(library.metadata().name() + " case " + k)
                        .isEqualTo(Files.readAllBytes(golden.resolve("output_" + k + ".bin")));
            }
        }
    }

    private static ModelLibrary compile(Path model, String name, boolean linked) {
        return ModelCompiler.compile(RequestDraft.of(model.resolve("model.tflite"), TARGET)
                        .name(name)
                        .executor(ExecutorKind.GRAPH)
                        .linked(linked)
                        .packed(new PackedOptions(false, true))
                        .build())
                .library();
    }
}
