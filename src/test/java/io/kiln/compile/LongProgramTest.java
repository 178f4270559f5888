// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.Convention;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models of so many operators that the function that runs them has parts. */
class LongProgramTest {
    private static final int OPERATORS = 510;

    /** Of rows of three operators at a time: as many steps. */
    private static final int INTERLEAVED = 3 * OPERATORS;

    private static final String PART = new InterfaceNames("chain").mainPart(0);

    @TempDir
    private Path folder;

    private RequestDraft request(String target, int operators) throws IOException {
        Path model = folder.resolve("chain.tflite");
        Files.write(model, ChainModel.write(operators));
        return RequestDraft.of(model, target).name("chain");
    }

    private static List<Bytes> inputs(CompiledModel model) {
        return List.of(RandomOperators.input(model.imported().params().get(0).type(), 7));
    }

    private static Bytes expected(CompiledModel model) {
        return Interpreter.run(model.imported(), inputs(model)).get(0);
    }

    private static String sources(ModelLibrary library) {
        return library.artifacts().of(ArtifactKind.SOURCE).stream()
                .map(Artifact::text)
                .collect(Collectors.joining());
    }

    private void check(CompiledModel model) {
        ModelLibrary library = model.library();
        Bytes answer = HostProgram.build(
                        folder,
                        List.of(library.metadata()),
                        List.of(library.artifacts().artifacts()))
                .run(inputs(model));
        assertThat(answer).isEqualTo(expected(model));
    }

    @ParameterizedTest
    @CsvSource({"SPEED, " + OPERATORS, "RAM, " + INTERLEAVED})
    void answersInC(Optimize optimize, int operators) throws IOException {
        CompiledModel model = ModelCompiler.compile(
                request("c -keys=cpu -model=host", operators).optimize(optimize).build());
        assertThat(sources(model.library())).contains(PART);
        check(model);
    }

    @Test
    void answersByPackedFunctions() throws IOException {
        CompiledModel model = ModelCompiler.compile(request("c -keys=cpu -model=host", OPERATORS)
                .convention(Convention.PACKED)
                .packed(new PackedOptions(true, true))
                .build());
        assertThat(sources(model.library())).contains(PART);
        PackedHost.build(folder, List.of(model.library()), "registry.c", List.of());
        Files.write(folder.resolve("in.bin"), inputs(model).get(0).toArray());
        PackedHost.run(folder, "in.bin", "out.bin");
        // Each model runs twice.
        byte[] answer = expected(model).toArray();
        assertThat(Files.readAllBytes(folder.resolve("out.bin")))
                .startsWith(answer)
                .endsWith(answer)
                .hasSize(2 * answer.length);
    }

    @Test
    void answersAsLlvmObjects() throws IOException {
        ClangObjects clang = ClangObjects.of("llvm", Optimize.SPEED, List.of(), TestToolchains.environment(Log.QUIET));
        check(ModelCompiler.compile(
                request("llvm", OPERATORS).objects(Optional.of(clang)).build()));
    }
}
