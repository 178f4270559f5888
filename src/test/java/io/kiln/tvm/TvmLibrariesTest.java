// SPDX-License-Identifier: Apache-2.0
package io.kiln.tvm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ExecutorKind;
import io.kiln.base.Log;
import io.kiln.flow.export.LibraryExport;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The real TVM loads libraries that Kiln exported, and makes their executors. */
@ParameterizedClass
@MethodSource("io.kiln.tvm.RealTvm#releases")
final class TvmLibrariesTest {
    @Parameter
    private RealTvm tvm;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "KEYWORDS, aot, true",
        "SUMS, aot, true",
        "RESIDUAL, aot, true",
        "KEYWORDS, graph, true",
        "KEYWORDS, graph, false",
        "RESIDUAL, graph, false"
    })
    void itsExecutorsAnswerAsTheReferenceDoes(OwnModel model, String executor, boolean linked) throws IOException {
        Layout layout = new Layout(folder, folder.resolve("out"), "net");
        BuildSpec spec = SpecDraft.of(layout, List.of(new ModelSource(model.model(), "net")), "host")
                .executor(ExecutorKind.of(executor), linked)
                .build();
        Path library = new LibraryExport(Log.QUIET, spec, TestToolchains.environment(Log.QUIET), false)
                .run()
                .get(0);
        int inputs = model.read().params().size();
        for (int i = 0; i < 2; i++) {
            int k = i;
            List<Path> files = IntStream.range(0, inputs)
                    .mapToObj(input -> folder.resolve("input_" + k + "_" + input + ".bin"))
                    .toList();
            for (int input = 0; input < inputs; input++) {
                Files.write(files.get(input), model.inputs(k).get(input).toArray());
            }
            JsonNode answer =
                    tvm.ask("library", Map.of("file", library, "name", "net", "executor", executor, "inputs", files));
            assertThat(answer.path("outputs").get(0).asText())
                    .isEqualTo(HexFormat.of()
                            .formatHex(Files.readAllBytes(model.folder().resolve("output_" + k + ".bin"))));
            assertThat(answer.path("keys").get(0).asText())
                    .isEqualTo(executor.equals("aot") ? "AotExecutorFactory" : "GraphExecutorFactory");
        }
    }
}
