// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.DType;
import io.kiln.base.WholeFiles;
import io.kiln.cycles.core.CycleRange;
import io.kiln.report.BuildReport.ImageReport;
import io.kiln.report.BuildReport.ModelPart;
import io.kiln.report.BuildReport.PreprocessingReport;
import io.kiln.report.CycleReport.BoardCycles;
import io.kiln.report.CycleReport.MemoryReport;
import io.kiln.report.VerifyReport.Tolerance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ReportsTest {
    private static final TensorInfo X = new TensorInfo("x", "x", DType.INT8, List.of(1, 4), 0.1f, 0);
    private static final OperatorInfo DENSE = new OperatorInfo(
            "tvmgen_kws_dense",
            List.of("#0 FULLY_CONNECTED `y`"),
            "qnn.dense",
            List.of(X),
            List.of(X),
            new OperatorInfo.Cost(16, 12, 20, 0),
            new OperatorInfo.ChosenSchedule("dense.portable", "no choice"));
    private static final PlannedBuffer BUFFER = new PlannedBuffer("x", 0, 64, -1, 1, List.of("y"));
    private static final ModelMetadata KWS = new ModelMetadata(
            "kws",
            "c -keys=cpu",
            ModelMetadata.Interface.typed(ModelMetadata.Io.CALLER, List.of(X), List.of(X)),
            new ModelMetadata.Memory(64, 16, 20),
            new ModelMetadata.Plan("first-fit", 64, 60, List.of(BUFFER)),
            List.of(DENSE));
    private static final VerifyReport FAILED = new VerifyReport(
            "mps2-an386",
            "qemu-system-arm",
            7,
            List.of(
                    new VerifyReport.Case("vector_0", 12, 0, 0),
                    new VerifyReport.Case("random_0 <\"&>", 12, 3, Double.MAX_VALUE)),
            false,
            false,
            Tolerance.NONE,
            "3 of 12 outputs differ");

    @TempDir
    Path folder;

    private static BuildReport report() {
        return new BuildReport(
                "rpc",
                "kws.tflite",
                "kws",
                "mps2-an386",
                "clang 20.1.7",
                KWS.target(),
                new BuildReport.Calls("packed", false, true, false),
                new BuildReport.Flash(100, 20, 4, 124, 4096),
                new BuildReport.Ram(4, 8, 2, 64, 8, 1024, 1108, 2048),
                new BuildReport.Stack(null, 1024),
                List.of(new BuildReport.MemoryUse("flash", 124, 4096)),
                16,
                16,
                BuildReport.operators(List.of(KWS, KWS)),
                BuildReport.plan(List.of(KWS, KWS)),
                List.of(new LinkPlan.Group("native", "host", "compiled", 2, 99)),
                ModelPart.of(List.of(KWS, KWS)),
                new ImageReport(
                        List.of(new ImageReport.Section(".text", "flash", 0x800_0000L, 100)),
                        List.of(new ImageReport.Symbol("f", 40, false)),
                        List.of(new ImageReport.Licence("crt", "Apache-2.0", 2))),
                List.of(new PreprocessingReport("kws", 49, 10, null, 3_638, 3_024, null, null)),
                null,
                null);
    }

    @Test
    void reportFitsItsSchema() {
        BuildReport report = report();
        assertThat(report.plan()).isEqualTo(new ModelMetadata.Plan("first-fit", 128, 120, List.of(BUFFER, BUFFER)));
        assertThat(report.operators()).hasSize(2);
        JsonSchemas.assertFits("report", Json.text(report));
        assertThat(report.operators()).allMatch(o -> o.instructions() == null && o.executedMacs() == 12);
        CycleRange cycles = new CycleRange(100, 120, 150);
        BuildReport profiled = report.profiled(new ProfileReport(
                        "b",
                        "qemu",
                        true,
                        99,
                        List.of(new ProfileReport.Operator("tvmgen_kws_dense", List.of(), 90).with(cycles)))
                .with(CycleReport.of("Arm Cortex-M4", cycles, 50L, 80_000_000L, 0))
                .with(List.of(new ProfileReport.Preprocessing("kws", 81_175, 3_977_575))));
        assertThat(profiled.preprocessing())
                .containsExactly(new PreprocessingReport("kws", 49, 10, null, 3_638, 3_024, 81_175L, 3_977_575L));
        assertThat(profiled.operators())
                .allMatch(o -> o.instructions() == 90 && o.estimatedCycles().equals(cycles));
        assertThat(profiled.estimate().microseconds()).isEqualTo(new CycleReport.Time(1.25, 1.5, 2.5));
        JsonSchemas.assertFits("report", Json.text(profiled));
    }

    @Test
    void verifyFitsItsSchemaAndNothingElseIsInIt() {
        JsonSchemas.assertFits("verify", Json.text(FAILED));
        assertThat(JsonSchemas.violations("verify", Json.text(FAILED).replace("\"seed\"", "\"seeds\"")))
                .isNotEmpty();
    }

    @Test
    void estimatedCyclesAreSaidInOneLine() {
        CycleRange cycles = new CycleRange(4_000_000, 4_100_000, 4_200_000);
        assertThat(CycleReport.of("Arm Cortex-M4", cycles, 1_000_000L, 100_000_000L, 0)
                        .text())
                .isEqualTo(
                        "Estimated for Arm Cortex-M4: 4,100,000 cycles (4,000,000 to 4,200,000), and at most 1,000,000"
                                + " for the flash; 41.00 ms (40.00 to 52.00) at 100 MHz");
        assertThat(CycleReport.of("Arm Cortex-M4", cycles, null, null, 7).text())
                .endsWith("(4,000,000 to 4,200,000); 7 instructions are not in the core's table and counted like"
                        + " additions");
    }

    @Test
    void waitsOfMemoriesFitTheSchemaAndAreSaid() {
        BoardCycles waited = new BoardCycles(1_000, 300, 200, 1_560, 1_400, 2_000);
        MemoryReport memory = new MemoryReport(
                waited,
                List.of(new MemoryReport.Loop("kiln_conv_run", 0x08000100L, 2_320, 1_024, 250)),
                List.of(new MemoryReport.Change("a single bank", 1_200, 12_000.0)),
                3);
        ProfileReport report = new ProfileReport(
                        "b",
                        "qemu",
                        true,
                        900,
                        List.of(new ProfileReport.Operator("f", List.of(), 890)
                                .with(CycleRange.exactly(1_000))
                                .with(waited)))
                .with(CycleReport.of("Arm Cortex-M4", CycleRange.exactly(1_000), 9_000L, 100_000_000L, 0)
                        .with(memory));
        JsonSchemas.assertFits("profile", Json.text(report));
        assertThat(report.cycles()).isEqualTo(waited);
        assertThat(report.operators().get(0).text()).isEqualTo("890 instructions, about 1,560 cycles");
        assertThat(report.estimate().microseconds()).isEqualTo(new CycleReport.Time(14, 15.6, 20));
        assertThat(report.estimate().text()).doesNotContain("at most 9,000");
        assertThat(memory.text())
                .isEqualTo(
                        "With the waits of the board's memories: 1,560 cycles (1,400 to 2,000), of which 300 wait for"
                                + " code and 200 for constants; 3 loads are of unknown address");
        assertThat(memory.loops().get(0).text()).isEqualTo("kiln_conv_run: 2,320 of 1,024 bytes, 250 cycles");
        assertThat(memory.changes().get(0).text()).isEqualTo("a single bank: 1,200 cycles, 12.00 ms");
    }

    @Test
    void timesOfABoardFitTheSchema() {
        ProfileReport report = ProfileReport.measured(
                "b",
                "b, probe p",
                false,
                List.of(new ProfileReport.Time("m", 12.5, 2100L), new ProfileReport.Time("n", 0.1, null)),
                List.of(new ProfileReport.Operator("f", List.of(), null, 4.5, null, null, null)));
        String json = Json.text(report);
        JsonSchemas.assertFits("profile", json);
        assertThat(json).doesNotContain("instructions").containsOnlyOnce("cycles");
        Path file = folder.resolve("times.json");
        Json.write(file, report);
        assertThat(Json.read(file, ProfileReport.class)).isEqualTo(report);
    }

    @Test
    void profileFitsItsSchema() {
        ProfileReport report = new ProfileReport(
                        "b", "qemu", true, 1000, List.of(new ProfileReport.Operator("f", List.of("#0 ADD `y`"), 990)))
                .with(List.of(new ProfileReport.Preprocessing("kws", 81_175, 3_977_575)));
        JsonSchemas.assertFits("profile", Json.text(report));
        Path older = folder.resolve("profile.json");
        WholeFiles.write(older, Json.text(report).replaceAll("(?s)\"layers\".*?\\],", ""));
        assertThat(Json.read(older, ProfileReport.class).operators().get(0).layers())
                .isEmpty();
    }

    @Test
    void flashFitsItsSchemaAndGrows() throws IOException {
        FlashReport.Image image = new FlashReport.Image("a.elf", "0".repeat(64), 4711);
        FlashReport.Entry good = new FlashReport.Entry(
                image, "g:a:1", "b", "0669FF", "OpenOCD", "2026-01-01T00:00:00Z", 3.25, "flashed", null);
        FlashReport.Entry bad = new FlashReport.Entry(
                image, null, "b", null, "OpenOCD", "2026-01-01T00:00:01Z", 0.5, "failed", "no-probe: none");
        Path file = folder.resolve("flash.json");
        FlashReport.append(file, List.of(good));
        FlashReport.append(file, List.of(bad, good));
        JsonSchemas.assertFits("flash", Files.readString(file));
        assertThat(Json.read(file, FlashReport.Entry[].class)).containsExactly(good, bad, good);
        Path shared = folder.resolve("lab/flash.jsonl");
        FlashReport.share(shared, List.of(good, bad));
        FlashReport.share(shared, List.of(good));
        assertThat(Files.readAllLines(shared)).hasSize(3).allMatch(line -> line.startsWith("{\"image\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[", "null", "[null]", "{}", "[{\"image\": null}]", "\0\0\0\0", "[] []"})
    void aDamagedRecordOfFlashingIsKeptAsideAndAnotherBegun(String damaged) throws IOException {
        FlashReport.Image image = new FlashReport.Image("a.elf", "0".repeat(64), 4711);
        FlashReport.Entry entry =
                new FlashReport.Entry(image, null, "b", null, "OpenOCD", "2026-01-01T00:00:00Z", 3.25, "flashed", null);
        Path file = Files.writeString(folder.resolve("flash.json"), damaged);
        assertThat(FlashReport.append(file, List.of(entry))).contains(folder.resolve("flash.json.damaged"));
        assertThat(folder.resolve("flash.json.damaged")).hasContent(damaged);
        assertThat(FlashReport.append(file, List.of(entry))).isEmpty();
        assertThat(Json.read(file, FlashReport.Entry[].class)).containsExactly(entry, entry);
    }

    @Test
    void aLineThatWasCutOffDoesNotSpoilTheNext() throws IOException {
        FlashReport.Image image = new FlashReport.Image("a.elf", "0".repeat(64), 4711);
        FlashReport.Entry entry =
                new FlashReport.Entry(image, null, "b", null, "OpenOCD", "2026-01-01T00:00:00Z", 3.25, "flashed", null);
        Path shared = Files.writeString(folder.resolve("flash.jsonl"), "{\"image\":{\"fi");
        FlashReport.share(shared, List.of(entry));
        assertThat(Files.readAllLines(shared)).hasSize(2).last().isEqualTo(Json.line(entry));
    }

    @Test
    void jsonIsReadBackAsItWasWritten() throws IOException {
        Path file = folder.resolve("deep/verify.json");
        Json.write(file, FAILED);
        assertThat(Json.read(file, VerifyReport.class)).isEqualTo(FAILED);
        assertThat(Files.readString(file)).endsWith("}\n").doesNotContain("\r");
    }

    @Test
    void junitXmlNamesEveryCaseAndEscapesText() {
        assertThat(JUnitXml.text(FAILED, List.of(Duration.ofMillis(1234), Duration.ZERO)))
                .isEqualTo("""
                    <?xml version="1.0" encoding="UTF-8"?>
                    <testsuite name="kiln.verify.mps2-an386" tests="2" failures="1" errors="0" skipped="0" time="1.234">
                      <testcase classname="kiln.verify.mps2-an386" name="vector_0" time="1.234"/>
                      <testcase classname="kiln.verify.mps2-an386" name="random_0 &lt;&quot;&amp;&gt;" time="0.000">
                        <failure message="3 of 12 outputs differ from the reference, by up to 1.7976931348623157E308"/>
                      </testcase>
                    </testsuite>
                    """);
    }

    @Test
    void aVerificationThatStoppedIsAnErrorWithWhatWasSaid() throws IOException {
        VerifyReport stopped = VerifyReport.failed("b", "unknown", 0, "2 problems:\n  - \u001b[31mred <&>");
        JsonSchemas.assertFits("verify", Json.text(stopped));
        Path file = folder.resolve("verify.json");
        Json.write(file, stopped);
        assertThat(Json.read(file, VerifyReport.class)).isEqualTo(stopped);
        assertThat(JUnitXml.text(stopped, List.of())).isEqualTo("""
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="kiln.verify.b" tests="1" failures="0" errors="1" skipped="0" time="0.000">
              <testcase classname="kiln.verify.b" name="verification" time="0.000">
                <error message="2 problems:">2 problems:
              - \uFFFD[31mred &lt;&amp;&gt;</error>
              </testcase>
            </testsuite>
            """);
    }

    @Test
    void aGreenVerifyFileHasNoFailure() {
        VerifyReport green = new VerifyReport("b", "q", 0, List.of(), true, true, Tolerance.NONE, "");
        assertThat(Json.text(green)).doesNotContain("failure");
        JsonSchemas.assertFits("verify", Json.text(green));
    }

    @Test
    void tablesAlignNumbersToTheRight() {
        assertThat(new Table("operator", "bytes", "kind")
                        .row("conv", 1200, "int8")
                        .row("add", 7, "")
                        .lines())
                .containsExactly("operator  bytes  kind", "conv       1200  int8", "add           7");
    }

    @Test
    void failedMeasurementsHaveNoCost() throws IOException {
        TuneReport.Choice unmeasured = new TuneReport.Choice("conv_direct(channel_block=1)", null);
        TuneReport.Choice best = new TuneReport.Choice("conv_direct(channel_block=2)", 90.0);
        List<Double> costs = Arrays.asList(null, 100.0, null, 90.0);
        TuneReport.Sizes sizes = new TuneReport.Sizes(90, null, 12, 8);
        TuneReport report = new TuneReport(
                "mps2-an386",
                "c -mcpu=cortex-m4",
                "cycles",
                "grid",
                1,
                "src/main/tuning/mps2-an386.log",
                List.of(new TuneReport.Task("conv2d", "kiln.conv2d.cortex-m4", 4, 2, unmeasured, best, costs)),
                new TuneReport.Whole(sizes, sizes));
        Path file = folder.resolve("tune.json");
        Json.write(file, report);
        JsonSchemas.assertFits("tune", Files.readString(file));
        assertThat(Json.read(file, TuneReport.class)).isEqualTo(report);
    }
}
