// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.ReadOptions;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.verify.VerificationCases.Comparison;
import io.kiln.flow.verify.VerificationCases.TestVectors;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.target.TestTargets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Vectors of TensorFlow Lite's reference kernels for layers that TensorFlow Lite Micro rounds otherwise. */
@NeedsShared("models-more")
class GivenRoundingTest {
    /** Dense layers, convolutions, and layers with float data and int8 weights. */
    private static final String CASES = "tf(25|27|28|29)_.*";

    /** Both libraries round convolutions twice. */
    private static final String ROUNDED_ALIKE = "tf28_.*";

    @TempDir
    private Path folder;

    @Test
    void areTheModelsWithTensorFlowLitesRounding() {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<VerificationCases> all = new ArrayList<>();
        for (Path each : folders()) {
            CompiledModel compiled = compiled(each, "lite");
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
            all.add(cases(each, "lite", each));
            inputs.addAll(all.get(all.size() - 1).cases().get(0).inputs());
        }
        assertThat(all).hasSizeGreaterThan(5);
        Bytes answers = HostProgram.build(folder, models, artifacts).run(inputs);
        int offset = 0;
        for (int i = 0; i < models.size(); i++) {
            List<Bytes> expected = all.get(i).expected().get(0);
            byte[] answer = new byte[expected.get(0).size()];
            answers.buffer().get(offset, answer);
            offset += answer.length;
            assertThat(Comparison.of(models.get(i).outputs(), List.of(Bytes.wrap(answer)), expected)
                            .mismatches())
                    .as(models.get(i).name())
                    .isZero();
        }
        assertThat(answers.size()).isEqualTo(offset);
    }

    @Test
    void nameTheParameterWithTheOtherRounding() {
        for (Path each : folders()) {
            if (each.getFileName().toString().matches(ROUNDED_ALIKE)) {
                cases(each, "micro", each);
            } else {
                assertThatThrownBy(() -> cases(each, "micro", each))
                        .as(each.toString())
                        .isInstanceOf(KilnException.class)
                        .hasMessageContaining("the outputs of the test vector are the model's with"
                                + " kiln.tflite.rounding=lite, but this build has kiln.tflite.rounding=micro")
                        .hasMessageContaining("Set kiln.tflite.rounding=lite");
            }
        }
    }

    @Test
    void areNeitherIfNoRoundingExplainsThem() throws IOException {
        Path each = folders().stream()
                .filter(f -> f.getFileName().toString().startsWith("tf27"))
                .findFirst()
                .orElseThrow();
        Files.copy(each.resolve("input_0.bin"), folder.resolve("input_0.bin"));
        byte[] output = Files.readAllBytes(each.resolve("output_0.bin"));
        output[0] ^= 64;
        Files.write(folder.resolve("output_0.bin"), output);
        assertThatThrownBy(() -> cases(each, "lite", folder))
                .hasMessageContaining("the outputs of the test vector and of the model differ: 1 of")
                .hasMessageContaining("at most by 64")
                .hasMessageContaining("kiln.tflite.rounding=lite; those with kiln.tflite.rounding=micro differ, too");
    }

    private static VerificationCases cases(Path model, String rounding, Path vectors) {
        VerifySpec verify = new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), 0, 0);
        Problems problems = new Problems(Failure.VERIFY);
        VerificationCases cases = VerificationCases.of(
                compiled(model, rounding).library().metadata(),
                RoundedModel.of(reading(rounding), source(model)),
                new TestVectors(verify, List.of(source(model)), false),
                problems);
        assertThat(problems.list()).isEmpty();
        assertThat(cases.cases())
                .hasSize(3)
                .allMatch(each -> each.givenOutputs().isPresent());
        return cases;
    }

    private static ModelSource source(Path model) {
        return new ModelSource(
                model.resolve("model.tflite"), model.getFileName().toString());
    }

    private static CompiledModel compiled(Path model, String rounding) {
        return ModelCompiler.compile(RequestDraft.of(source(model).file(), TestTargets.HOST)
                .name(source(model).name())
                .rounding(reading(rounding).rounding())
                .build());
    }

    private static ReadOptions reading(String rounding) {
        return ReadOptions.parse("model", rounding, Optional.empty(), Optional.empty());
    }

    private static List<Path> folders() {
        try (Stream<Path> all = Files.list(SharedFolder.need("models-more"))) {
            return all.filter(each -> each.getFileName().toString().matches(CASES))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
