// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.target.TestTargets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every golden model in C on this machine under sanitizers, a share of them for each way to optimize; all of them with
 * {@code -Dkiln.golden=all}.
 */
class GoldenSetTest {
    private static final String DSP = TestTargets.M4;
    private static final int SHARES = 6;

    private static final String MVE = TestTargets.M55;

    /** Cores whose schedules use micro-kernels; their portable twins run here. */
    private static final List<String> TARGETS =
            List.of(TestTargets.HOST, DSP, MVE, TestTargets.M3, TestTargets.M0, TestTargets.RV32);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"0, SPEED", "1, SIZE", "2, RAM"})
    @NeedsShared("golden")
    void answersAsTheReferenceKernelsDo(int share, Optimize optimize) {
        List<Path> models = GoldenModels.share(share, SHARES).stream()
                .map(GoldenModels::folder)
                .toList();
        GoldenAnswers.check(folder, models, DSP, request -> request.optimize(optimize));
    }

    /** Those of the project's own, which are there in every checkout. */
    @ParameterizedTest
    @EnumSource(Optimize.class)
    void ownModelsAnswerAsTheInterpreterDoes(Optimize optimize) {
        GoldenAnswers.check(folder, OwnModel.folders(), DSP, request -> request.optimize(optimize));
    }

    /** How a golden model is compiled. */
    private record Variant(String target, Optimize optimize, Io io) {
        CompileRequest request(Path source, String name) {
            return RequestDraft.of(source, target)
                    .name(name)
                    .io(io)
                    .optimize(optimize)
                    .build();
        }
    }

    static Stream<String> models() {
        return Stream.concat(GoldenModels.INTEGER.stream(), GoldenModels.FLOAT.stream());
    }

    private static List<Variant> variants(String model) {
        if (GoldenModels.FLOAT.contains(model)) {
            return List.of(
                    new Variant(TestTargets.HOST, Optimize.SPEED, Io.CALLER),
                    new Variant(TestTargets.HOST, Optimize.RAM, Io.WORKSPACE),
                    new Variant(MVE, Optimize.SPEED, Io.CALLER));
        }
        String other = TARGETS.get(GoldenModels.INTEGER.indexOf(model) * 5 % TARGETS.size());
        return List.of(
                new Variant(DSP, Optimize.SPEED, Io.CALLER),
                new Variant(MVE, Optimize.SPEED, Io.CALLER),
                new Variant(other, Optimize.SPEED, Io.WORKSPACE),
                new Variant(DSP, Optimize.RAM, Io.WORKSPACE),
                new Variant(DSP, Optimize.SIZE, Io.CALLER));
    }

    @ParameterizedTest
    @MethodSource("models")
    @NeedsShared("golden")
    void everyGoldenModelAnswersAsTheReferenceKernelsDo(String model) throws IOException {
        Path source = GoldenModels.model(model);
        List<CompileRequest> requests = new ArrayList<>();
        for (Variant variant : variants(model)) {
            requests.add(variant.request(source, "golden" + requests.size()));
        }
        answerAsTheReferenceKernelsDo(model, requests);
    }

    /** All in one program, on one target after another. */
    @Test
    @NeedsShared("golden")
    void goldenModelsOfOneOperatorAnswerAsTheReferenceKernelsDo() throws IOException {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (String model : GoldenModels.SINGLE_OPERATORS) {
            String target = TARGETS.get(models.size() % TARGETS.size());
            Optimize optimize = List.of(Optimize.values()).get(models.size() % Optimize.values().length);
            Path source = GoldenModels.model(model);
            CompiledModel compiled = ModelCompiler.compile(RequestDraft.of(source, target)
                    .name(model)
                    .optimize(optimize)
                    .build());
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
            inputs.add(Bytes.wrap(Files.readAllBytes(source.resolveSibling("input_1.bin"))));
            expected.writeBytes(Files.readAllBytes(source.resolveSibling("output_1.bin")));
        }
        Bytes actual = HostProgram.build(folder, models, artifacts).run(inputs);
        assertThat(actual).isEqualTo(Bytes.wrap(expected.toByteArray()));
    }

    /** All variants of a model in one program, which runs one case after another. */
    private void answerAsTheReferenceKernelsDo(String model, List<CompileRequest> requests) throws IOException {
        Path source = requests.get(0).model().file();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        for (CompileRequest request : requests) {
            CompiledModel compiled = ModelCompiler.compile(request);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        HostProgram program = HostProgram.build(folder, models, artifacts);
        for (int k : GoldenModels.cases(model)) {
            Bytes input = Bytes.wrap(Files.readAllBytes(source.resolveSibling("input_" + k + ".bin")));
            Bytes expected = Bytes.wrap(Files.readAllBytes(source.resolveSibling("output_" + k + ".bin")));
            ByteBuffer actual =
                    program.run(Collections.nCopies(models.size(), input)).buffer();
            for (int i = 0; i < models.size(); i++) {
                byte[] answer = new byte[expected.size()];
                actual.get(answer);
                assertThat(GoldenModels.agree(expected, Bytes.wrap(answer), GoldenModels.outputs(models.get(i))))
                        .as("%s case %d, variant %d", model, k, i)
                        .isTrue();
            }
            assertThat(actual.hasRemaining()).isFalse();
        }
    }
}
