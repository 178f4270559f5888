// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.TestPrograms;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.PageDocument;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** All steps with the real compiler and the real emulator, on the example model. */
final class FlowTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    @Test
    void theRoadEndsWithReportsThatFitTheirSchemas() throws IOException {
        flow.build(spec(GestureProject.VECTORS, 2), DeviceSpec.USUAL);
        flow.profile(spec(GestureProject.VECTORS, 2));
        reportsAgree();
        operatorsAreEstimated();
        pageShowsTheReport();
    }

    private void reportsAgree() throws IOException {
        JsonSchemas.assertFits("report", text("kiln/report.json"));
        JsonSchemas.assertFits("verify", text("kiln/verify.json"));
        JsonSchemas.assertFits("profile", text("kiln/profile.json"));

        JsonNode verify = json("kiln/verify.json");
        assertThat(verify.path("bitExact").asBoolean()).isTrue();
        assertThat(verify.path("cases").findValuesAsText("name"))
                .containsExactly("vector_0", "vector_1", "vector_2", "vector_3", "random_0", "random_1");
        JsonNode report = json("kiln/report.json");
        assertThat(report.at("/flash/total").asLong())
                .isEqualTo(Files.size(folder.resolve("out/gesture.bin")))
                .isLessThan(report.at("/flash/available").asLong());
        assertThat(report.at("/ram/workspace").asLong())
                .isEqualTo(report.at("/plan/bytes").asLong());
        assertThat(names(json("kiln/profile.json"))).isEqualTo(names(report)).isNotEmpty();
        assertThat(source()).contains(names(report));
        assertThat(json("kiln/profile.json").path("operators").findValues("layers"))
                .isEqualTo(report.path("operators").findValues("layers"));
        assertThat(log.answers())
                .anyMatch(line -> line.startsWith("One inference on "))
                .anyMatch(line -> line.matches(".*tvmgen_gesture_fused_qnn_conv2d.*  \\(#0 CONV_2D `.*`\\)"));
        assertThat(numbers(report, "instructions"))
                .isEqualTo(numbers(json("kiln/profile.json"), "instructions"))
                .allMatch(count -> count > 0);
    }

    private void operatorsAreEstimated() throws IOException {
        JsonNode report = json("kiln/report.json");
        assertThat(report.at("/estimate/core").asText()).isEqualTo("Arm Cortex-M4");
        assertThat(report.at("/estimate/unknownInstructions").asLong()).isZero();
        long whole = report.at("/estimate/cycles/expected").asLong();
        long inOperators = report.path("operators").findValues("estimatedCycles").stream()
                .mapToLong(cycles -> cycles.path("expected").asLong())
                .sum();
        assertThat(inOperators).isBetween(whole * 9 / 10, whole);
        assertThat(whole)
                .isGreaterThan(json("kiln/profile.json").path("instructions").asLong());
        assertThat(said).anyMatch(line -> line.startsWith("Estimated for Arm Cortex-M4: "));
    }

    private void pageShowsTheReport() throws IOException {
        JsonNode report = json("kiln/report.json");
        String page = text("kiln/index.html");
        PageDocument shown = PageDocument.of(page);
        shown.requireSelfContained();
        assertThat(shown.texts("b")).startsWith("Bit-exact");
        assertThat(shown.texts("td")).contains("vector_3", ".text").containsAll(counts(report));
        assertThat(shown.count("svg", "graph")).isEqualTo(1);
    }

    private static List<String> counts(JsonNode report) {
        return report.path("operators").findValues("instructions").stream()
                .map(count -> String.format(Locale.ROOT, "%,d", count.asLong()))
                .toList();
    }

    private static List<Long> numbers(JsonNode report, String field) {
        List<Long> numbers = new ArrayList<>();
        report.path("operators")
                .forEach(operator -> numbers.add(operator.path(field).asLong()));
        return numbers;
    }

    @ParameterizedTest
    @CsvSource({"host,host,workspace,size", "mps3-an547,gnu,workspace,speed", "microbit,gnu,caller,ram"})
    void everyChoiceAnswersTheSame(String board, String toolchain, String io, String optimize) throws IOException {
        TestToolchains.resolve(toolchain, Boards.builtIn().find(board).target());
        BuildSpec base = spec(GestureProject.VECTORS, 1);
        flow.build(
                SpecDraft.of(base)
                        .board(board)
                        .toolchain(Optional.of(toolchain))
                        .optimize(optimize)
                        .io(io)
                        .build(),
                DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        JsonSchemas.assertFits("report", text("kiln/report.json"));
    }

    @Test
    void twoBuildsInTwoFoldersGiveTheSameBytes() throws IOException {
        Flow compiling = new Flow(log, TestToolchains.environment(log).withoutObjectCache());
        compiling.build(spec(folder.resolve("one"), VerifyOn.NONE), DeviceSpec.USUAL);
        compiling.build(spec(folder.resolve("two/deeper"), VerifyOn.NONE), DeviceSpec.USUAL);
        for (String file :
                List.of("gesture.elf", "gesture.bin", "gesture.hex", "gesture-mlf.tar", "kiln/state/generate.json")) {
            assertThat(folder.resolve("two/deeper/out").resolve(file))
                    .hasSameBinaryContentAs(folder.resolve("one/out").resolve(file));
        }
        for (Path file : Fingerprint.filesBelow(folder.resolve("one/out/generated-sources"))) {
            Path twin =
                    folder.resolve("two/deeper").resolve(folder.resolve("one").relativize(file));
            assertThat(twin).hasSameBinaryContentAs(file);
        }
    }

    @Test
    void aWrongAnswerFailsAndIsReported() throws IOException {
        BuildSpec spec = spec(GestureProject.VECTORS, 1);
        flow.generate(spec);
        Path entry = folder.resolve("out/generated-sources/kiln/codegen/host/src/gesture_lib0.c");
        String right = Files.readString(entry);
        String wrong = right.replaceFirst(
                "return (tvmgen_gesture___tvm_main__\\(.*\\));",
                "int32_t result = $1; ((int8_t*)outputs->gesture)[3] = 99; return result;");
        assertThat(wrong).isNotEqualTo(right);
        Files.writeString(entry, wrong);
        flow.link(spec);

        assertThatThrownBy(() -> flow.verify(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("1 of 4 outputs differ from the reference")
                .hasMessageContaining("gesture[3] is 99 instead of");
        JsonNode verify = json("kiln/verify.json");
        assertThat(verify.path("passed").asBoolean()).isFalse();
        assertThat(verify.path("bitExact").asBoolean()).isFalse();
        assertThat(text("kiln/TEST-kiln-verify.xml")).contains("<failure message=\"1 of 4 outputs differ");

        // What failed is not taken for verified; and the edited file is generated anew.
        assertThatThrownBy(() -> flow.verify(spec, DeviceSpec.USUAL)).isInstanceOf(KilnException.class);
        said.clear();
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(said).anyMatch(line -> line.contains("gesture_lib0.c was changed by hand"));
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
    }

    @Test
    void aVectorWhoseOutputIsNotTheModelsIsRefused() throws IOException {
        Path vectors = Files.createDirectory(folder.resolve("vectors"));
        Files.copy(GestureProject.VECTORS.resolve("input_0.bin"), vectors.resolve("input_0.bin"));
        Files.write(vectors.resolve("output_0.bin"), new byte[] {1, 2, 3, 4});
        assertThatThrownBy(() -> flow.build(spec(vectors, 0), DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("model gesture, vector_0")
                .hasMessageContaining("the outputs of the test vector and of the model differ");
        assertThat(json("kiln/verify.json").path("passed").asBoolean()).isFalse();
        assertThat(text("kiln/TEST-kiln-verify.xml"))
                .contains("the outputs of the test vector and of the model differ");
    }

    @Test
    void modelArchiveAndImageAreShownToPeopleAndPrograms() {
        BuildSpec spec = spec(folder, VerifyOn.NONE);
        flow.build(spec, DeviceSpec.USUAL);
        said.clear();
        flow.inspect(spec, Optional.empty(), GivenInputs.NONE);
        flow.inspect(spec, Optional.of(folder.resolve("out/gesture-mlf.tar")), GivenInputs.NONE);
        flow.inspect(spec, Optional.of(folder.resolve("out/gesture.elf")), GivenInputs.NONE);
        assertThat(String.join("\n", said))
                .contains("acceleration int8[1, 32, 1, 3], scale")
                .contains("qnn.conv2d")
                .contains("lower bound")
                .contains("Model Library Format version 7")
                .contains("on the board mps2-an386")
                .contains("workspace");
        String all = Json.text(flow.inspectReport(spec, Optional.empty(), GivenInputs.NONE, Optional.empty()));
        JsonSchemas.assertFits("inspect", all);
        assertThat(all).contains("\"kind\" : \"model\"", "\"kind\" : \"image\"", "\"name\" : \"acceleration\"");
        String archive = Json.text(flow.inspectReport(
                spec, Optional.of(folder.resolve("out/gesture-mlf.tar")), GivenInputs.NONE, Optional.empty()));
        JsonSchemas.assertFits("inspect", archive);
        assertThat(archive).contains("\"kind\" : \"archive\"", "\"version\" : \"7\"", "\"problems\" : [ ]");
        assertThatThrownBy(() -> flow.inspect(spec, Optional.of(Path.of("pom.xml")), GivenInputs.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("is not a file that can be shown");
    }

    private String source() throws IOException {
        return text("generated-sources/kiln/codegen/host/src/gesture_lib1.c");
    }

    @Test
    void theImageShowsItsAnswersWhenItRuns() {
        flow.run(spec(GestureProject.VECTORS, 0), new RunSpec(Duration.ofSeconds(60), Optional.empty()));
        assertThat(said).contains("Booting gesture.elf on qemu-system-arm mps2-an386");
        assertThat(log.answers()).as("a quiet build prints what was asked for").contains("| kiln: ready, gesture");
        assertThat(log.answers())
                .filteredOn(line -> line.contains("-> gesture = "))
                .hasSize(4);
        said.clear();
        flow.run(spec(GestureProject.VECTORS, 0), new RunSpec(Duration.ofSeconds(60), Optional.empty()));
        assertThat(said.get(0)).as("what was said of the image is not repeated").startsWith("Booting ");
    }

    private BuildSpec spec(Path vectors, int samples) {
        return spec(folder, new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), samples, 0));
    }

    private BuildSpec spec(Path project, VerifyOn verifyOn) {
        return spec(project, new VerifySpec(verifyOn, Optional.empty(), 0, 0));
    }

    private static BuildSpec spec(Path project, VerifySpec verify) {
        return new GestureProject(project).spec("mps2-an386").verify(verify).build();
    }

    private static List<String> names(JsonNode report) {
        List<String> names = new ArrayList<>();
        report.path("operators")
                .forEach(operator -> names.add(operator.path("name").asText()));
        return names;
    }

    private String text(String file) throws IOException {
        return new GestureProject(folder).text(file);
    }

    private JsonNode json(String file) throws IOException {
        return new GestureProject(folder).json(file);
    }
}
