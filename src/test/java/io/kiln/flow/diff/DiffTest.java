// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.diff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BudgetSpec;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.report.JsonSchemas;
import io.kiln.report.diff.FigureBudget;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Builds are compared with earlier ones, and what grows beyond its budget is refused. */
class DiffTest {
    private static final String BEFORE = """
            {"flash": {"text": 100, "constants": 50, "total": 150, "available": 1000},
             "ram": {"stack": 64, "total": 64, "available": 128}, "macs": 7,
             "operators": [{"name": "conv", "inputs": [{"name": "x", "dtype": "int8", "shape": [1, 2]}],
                            "outputs": [{"name": "y|", "dtype": "int8", "shape": [1]}], "macs": 7, "instructions": 30},
                           {"name": "gone", "inputs": [], "outputs": [], "macs": 0}]}
            """;
    private static final String AFTER = BEFORE.replace("\"total\": 150", "\"total\": 153")
            .replace("\"constants\": 50", "\"constants\": 53")
            .replace("\"instructions\": 30", "\"instructions\": 20")
            .replace("\"gone\"", "\"new\"")
            .replace("\"x\", \"dtype\": \"int8\"", "\"x\", \"dtype\": \"uint8\"");

    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();

    @Test
    void everyKindOfDifferenceIsTold() throws IOException {
        write("report.json", AFTER);
        write("profile.json", "{\"instructions\": 20}");
        write("verify.json", "{\"cases\": [{\"name\": \"vector_0\", \"mismatches\": 2}]}");
        Path old = Files.createDirectories(folder.resolve("old/kiln"));
        Files.writeString(old.resolve("report.json"), BEFORE);
        Files.writeString(old.resolve("profile.json"), "{\"instructions\": 30}");
        Files.writeString(old.resolve("verify.json"), "{\"cases\": [{\"name\": \"vector_0\", \"mismatches\": 0}]}");
        step().run(Optional.of(folder.resolve("old")), "1.0|<b>");

        assertThat(log.said().stream().map(line -> line.replaceAll(" +", " ")))
                .contains(
                        "flash 150 153 +3 (+2.0 %)",
                        "flash.text 100 100 0",
                        "ram 64 64 0",
                        "instructions 30 20 -10 (-33.3 %)",
                        "conv instructions 30 20 -10 (-33.3 %)",
                        "gone macs 0 - -",
                        "new macs - 0 -",
                        "mismatches of vector_0 0 2 +2",
                        "gone input x int8[1,2]",
                        "new input x uint8[1,2]");
        JsonSchemas.assertFits("diff", read("diff.json"));
        JsonNode json = new ObjectMapper().readTree(read("diff.json"));
        assertThat(json.path("operators").get(0).path("name").asText()).isEqualTo("conv");
        assertThat(read("diff.md"))
                .startsWith("Compared with 1.0\\|\\<b\\>\n")
                .contains("| flash | 150 | 153 | +3 (+2.0 %) |\n", "* new input x uint8\\[1,2\\]\n");
        assertThat(read("diff.html"))
                .contains(
                        "<tr class=\"more\"><td class=\"text name\" data-label=\"\">flash</td>",
                        "<tr class=\"less\"><td class=\"text name\" data-label=\"\">instructions</td>",
                        "1.0|&lt;b&gt;");
    }

    @Test
    void whatOnlyOneBuildMeasuredIsNoDifference() throws IOException {
        write("report.json", BEFORE.replace(", \"instructions\": 30", ""));
        Path old = Files.createDirectories(folder.resolve("old"));
        Files.writeString(old.resolve("report.json"), BEFORE);
        Files.writeString(old.resolve("verify.json"), "{\"cases\": [{\"name\": \"vector_0\", \"mismatches\": 0}]}");
        step().run(Optional.of(old), "before");

        JsonNode json = new ObjectMapper().readTree(read("diff.json"));
        assertThat(json.path("operators")).isEmpty();
        assertThat(json.path("answers")).isEmpty();
        assertThat(json.path("totals")).isNotEmpty();
    }

    @Test
    void budgetsAreAbsoluteOrSharesOfABaseline() throws IOException {
        write("report.json", AFTER);
        write("profile.json", "{\"instructions\": 20}");
        Path baseline = Files.writeString(folder.resolve("old.json"), BEFORE);

        assertThatCode(() -> check(
                        baseline,
                        new FigureBudget("flash", "+2%"),
                        new FigureBudget("ram", "64"),
                        new FigureBudget("cycles", "1")))
                .doesNotThrowAnyException();
        assertThatThrownBy(() ->
                        check(baseline, new FigureBudget("flash", "+1.9%"), new FigureBudget("instructions", "19")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("flash is 153; expected at most 152 (+1.9% of 150)")
                .hasMessageContaining("instructions is 20; expected at most 19 (19)");
        assertThat(log.said()).anyMatch(line -> line.startsWith("flash.constants"));
        assertThatCode(() -> check(baseline, new FigureBudget("flash", "1K"), new FigureBudget("ram", "1M")))
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> check(baseline, new FigureBudget("flash", "-1"), new FigureBudget("ram", "2 %")))
                .hasMessageContaining("`-1` is not a budget")
                .hasMessageContaining("`2 %` is not a budget");
    }

    @Test
    void whatIsNoReportIsNamed() throws IOException {
        Path broken = Files.writeString(folder.resolve("broken.json"), "{\"flash\": [");
        Path other = Files.writeString(folder.resolve("other.json"), "[1]");
        assertThatThrownBy(() -> step().run(Optional.of(folder.resolve("none")), "x"))
                .hasMessageContaining("there is no earlier build to compare with");
        write("report.json", AFTER);
        assertThatThrownBy(() -> step().run(Optional.of(broken), "x")).hasMessageContaining("is not JSON");
        assertThatThrownBy(() -> step().run(Optional.of(other), "x"))
                .hasMessageContaining("is not a report of a build");
        assertThat(folder.resolve("out/kiln/diff.json")).doesNotExist();
    }

    @Test
    void aBuildTellsWhatChangedSinceTheLast() throws IOException {
        GestureProject project = new GestureProject(folder);
        BuildSpec spec = project.spec("host")
                .toolchain(Optional.of("host"))
                .verify(GestureProject.UNVERIFIED)
                .build();
        Flow flow = new Flow(log, TestToolchains.environment(log));
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(log.said()).noneMatch(line -> line.startsWith("Since the last build"));
        step().check(new BudgetSpec(List.of(new FigureBudget("flash", "+0%")), Optional.empty()));
        assertThat(log.said()).contains("Budgets of growth: there is no earlier build to compare with");
        flow.build(SpecDraft.of(spec).optimize("size").build(), DeviceSpec.USUAL);

        long before = total("previous/report.json");
        long after = total("report.json");
        assertThat(after).isNotEqualTo(before);
        assertThat(log.said())
                .anyMatch(line -> line.startsWith(
                        "Since the last build: flash " + String.format(Locale.ROOT, "%+,d (", after - before)));
        step().run(Optional.empty(), "the last build");
        assertThat(new ObjectMapper()
                        .readTree(read("diff.json"))
                        .path("totals")
                        .get(0)
                        .path("after")
                        .asLong())
                .isEqualTo(after);
    }

    private long total(String report) throws IOException {
        return new ObjectMapper()
                .readTree(read(report))
                .path("flash")
                .path("total")
                .asLong();
    }

    private DiffStep step() {
        return new DiffStep(log, new GestureProject(folder).spec("host").build().layout());
    }

    private void check(Path baseline, FigureBudget... budgets) {
        step().check(new BudgetSpec(List.of(budgets), Optional.of(baseline)));
    }

    private void write(String name, String text) throws IOException {
        Path reports = Files.createDirectories(folder.resolve("out/kiln"));
        Files.writeString(reports.resolve(name), text);
    }

    private String read(String name) throws IOException {
        return Files.readString(folder.resolve("out/kiln").resolve(name));
    }
}
