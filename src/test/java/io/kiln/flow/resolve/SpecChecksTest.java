// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.flow.spec.UpdateSpec.Header;
import io.kiln.flow.spec.UpdateSpec.Versions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SpecChecksTest {
    @TempDir
    Path folder;

    @Test
    void aSoundSpecHasNoProblems() throws IOException {
        assertThat(problems(spec("speed", 2, model("default")))).isEmpty();
    }

    @Test
    void everythingWrongIsSaidAtOnce() {
        BuildSpec spec = spec("fast", -1, new ModelSource(folder.resolve("none.tflite"), "1st"));
        assertThat(problems(spec))
                .extracting(Problem::what)
                .containsExactly(
                        "the model file does not exist",
                        "the model name `1st` cannot be part of a C name",
                        "kiln.optimize is 'fast'",
                        "kiln.verify.samples is -1");
    }

    @Test
    void valuesThatAreNoneAreToldWithThoseThereAre() throws IOException {
        BuildSpec spec = SpecDraft.of(spec("ram", 2, model("default")))
                .io("shared")
                .verifyOn("moon", "console")
                .mlfVersion(6)
                .build();
        assertThat(problems(spec))
                .extracting(Problem::text)
                .satisfiesExactly(
                        text -> assertThat(text).contains("kiln.io is 'shared'", "one of caller, workspace"),
                        text -> assertThat(text).contains("kiln.verify.on is 'moon'", "one of emulator, board, none"),
                        text -> assertThat(text).contains("kiln.mlfVersion is '6'", "one of 5, 7"));
        assertThat(spec.verify().samples()).isEqualTo(2);
    }

    @Test
    void whatUpdatesNeedIsKnownBeforeTheBuild() throws IOException {
        Path key = Files.writeString(folder.resolve("key.pem"), "secret");
        UpdateSpec slots = new UpdateSpec(
                UpdateSpec.Models.SLOTS, Header.MCUBOOT, Optional.empty(), new Versions("v1", "256", "no"));
        assertThat(problems(spec(slots)))
                .extracting(Problem::where)
                .containsExactly(
                        "the project's version", "kiln.update.key", "kiln.modelVersion", "kiln.update.minimumFirmware");

        UpdateSpec signed = new UpdateSpec(
                UpdateSpec.Models.SLOTS, Header.NONE, Optional.of(key), new Versions("1", "1.0.0", "1.0.0"));
        assertThat(problems(SpecDraft.of(spec(signed)).ram(RamOptions.ALL).build()))
                .extracting(Problem::what)
                .anyMatch(what -> what.startsWith("kiln.ram copies models to RAM with kiln.update slots"));

        UpdateSpec whole = new UpdateSpec(
                UpdateSpec.Models.NONE, Header.MCUBOOT, Optional.of(key), new Versions("v1", "1.0", "no"));
        assertThat(problems(spec(whole))).extracting(Problem::where).containsExactly(key.toString());

        UpdateSpec none =
                new UpdateSpec(UpdateSpec.Models.NONE, Header.NONE, Optional.of(key), new Versions("v1", "256", "no"));
        assertThat(problems(spec(none))).isEmpty();
    }

    private BuildSpec spec(UpdateSpec update) throws IOException {
        return SpecDraft.of(spec("speed", 2, model("default"))).update(update).build();
    }

    @Test
    void whatAnotherPluginMayStillBringIsMissingAndNotWrong() throws IOException {
        BuildSpec spec = spec("speed", 2, new ModelSource(folder.resolve("none.tflite"), "none"));
        for (BuildSpec each : List.of(spec, spec("speed", 2))) {
            Problems problems = new Problems(Failure.CONFIG);
            Problems missing = new Problems(Failure.CONFIG);
            Resolver.checkSpec(each, problems, missing);
            assertThat(problems.isEmpty()).isTrue();
            assertThat(missing.list()).hasSize(1);
        }
        Problems problems = new Problems(Failure.CONFIG);
        Resolver.checkSpec(spec("speed", 2, new ModelSource(folder, "folder")), problems, new Problems(Failure.CONFIG));
        assertThat(problems.list()).hasSize(1);
    }

    @Test
    void pointersOfGitLfsAreRecognised() throws IOException {
        String pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        Path model = Files.writeString(folder.resolve("m.tflite"), pointer);
        Path relay = Files.writeString(folder.resolve("m.relay"), "#[version = \"0.0.5\"]\n");
        Files.writeString(folder.resolve("m.params"), pointer.replace("git-lfs.github", "hawser.github"));
        assertThat(problems(spec("speed", 2, new ModelSource(model, "one"), new ModelSource(relay, "two"))))
                .extracting(Problem::text)
                .satisfiesExactly(
                        text -> assertThat(text)
                                .contains("m.tflite: this is only a pointer of Git LFS", "git lfs pull"),
                        text -> assertThat(text).contains("m.params: this is only a pointer of Git LFS"));
    }

    @Test
    void keywordsFoldersAndTwinsAreRefused() throws IOException {
        BuildSpec spec =
                spec("speed", 2, model("while"), model("kws"), model("KWS"), new ModelSource(folder, "folder"));
        assertThat(problems(spec))
                .extracting(Problem::what)
                .containsExactly(
                        "the model name `while` is a keyword of C",
                        "the model name 'KWS' is given twice",
                        "the model is a folder");
    }

    @Test
    void noModelAtAllSaysWhereToPutOne() {
        assertThat(problems(spec("speed", 2)))
                .singleElement()
                .satisfies(problem -> assertThat(problem.next()).contains("-Dkiln.model"));
    }

    @Test
    void theOneModelInTheFolderIsTaken() throws IOException {
        Path file = Files.write(folder.resolve("a.tflite"), new byte[1]);
        Files.write(folder.resolve("readme.md"), new byte[1]);
        assertThat(ModelFiles.choose(List.of(), Optional.empty(), "default", GivenInputs.NONE, folder))
                .containsExactly(new ModelSource(file, "default"));
    }

    @Test
    void twoModelsInTheFolderNeedAChoice() throws IOException {
        Files.write(folder.resolve("a.tflite"), new byte[1]);
        Files.write(folder.resolve("b.tflite"), new byte[1]);
        assertThatThrownBy(() -> ModelFiles.choose(List.of(), Optional.empty(), "default", GivenInputs.NONE, folder))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there are 2 models: a.tflite, b.tflite");
    }

    private ModelSource model(String name) throws IOException {
        return new ModelSource(Files.write(folder.resolve("m.tflite"), new byte[4]), name);
    }

    private BuildSpec spec(String optimize, int samples, ModelSource... models) {
        return SpecDraft.of(new Layout(folder, folder.resolve("target"), "fw"), List.of(models), "mps2-an386")
                .toolchain(Optional.of("clang"))
                .optimize(optimize)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), samples, 0))
                .build();
    }

    private static List<Problem> problems(BuildSpec spec) {
        Problems problems = new Problems(Failure.CONFIG);
        Problems missing = new Problems(Failure.CONFIG);
        Resolver.checkSpec(spec, problems, missing);
        return Stream.concat(missing.list().stream(), problems.list().stream()).toList();
    }
}
