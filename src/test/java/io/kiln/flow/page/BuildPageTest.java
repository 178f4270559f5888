// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ImageReport;
import io.kiln.report.BuildReport.ModelPart;
import io.kiln.report.Json;
import io.kiln.report.PageDocument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page is made from what lies in the folder of reports. */
class BuildPageTest {
    private static final long LARGEST_PAGE = 1_500_000;

    @TempDir
    private Path folder;

    private Layout layout() {
        return new Layout(folder, folder, "image");
    }

    private static BuildReport report(ModelMetadata model) {
        return new BuildReport(
                "console",
                "model.tflite",
                model.name(),
                "sensor",
                "clang: 20.1.7",
                model.target(),
                new BuildReport.Calls("c", true, false, false),
                new BuildReport.Flash(0, 0, 0, 0, 0),
                new BuildReport.Ram(0, 0, 0, 0, 0, 0, 0, 0),
                new BuildReport.Stack(null, 1024),
                List.of(),
                1,
                1,
                BuildReport.operators(List.of(model)),
                BuildReport.plan(List.of(model)),
                List.of(),
                ModelPart.of(List.of(model)),
                new ImageReport(List.of(), List.of(), List.of()),
                List.of(),
                null,
                null);
    }

    @Test
    @NeedsShared("golden")
    void theLargestModelOfTheBenchFitsOnOnePage() throws IOException {
        CompiledModel vww = ModelCompiler.compile(
                RequestDraft.of(GoldenModels.model("vww_96_int8"), "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                        .name("vww")
                        .build());
        Path graph = BuildPage.keepGraph(layout(), vww, "vww.tflite");
        Json.write(folder.resolve("kiln/report.json"), report(vww.library().metadata()));
        BuildPage.write(layout());
        assertThat(Files.size(BuildPage.file(layout()))).isLessThan(LARGEST_PAGE);
        PageDocument page = PageDocument.of(Files.readString(BuildPage.file(layout())));
        page.requireSelfContained();
        assertThat(page.count("rect", "frame"))
                .isEqualTo(vww.library().metadata().operators().size());
        assertThat(page.count("rect", "buffer"))
                .isEqualTo(vww.library().metadata().plan().buffers().size());

        // A damaged graph is left out; a build writes it again.
        Files.writeString(graph, "{");
        BuildPage.write(layout());
        assertThat(PageDocument.of(Files.readString(BuildPage.file(layout()))).count("svg", "graph"))
                .isZero();
    }

    @Test
    void withoutAReportThereIsNoPage() throws IOException {
        BuildPage.write(layout());
        assertThat(BuildPage.file(layout())).doesNotExist();
        Files.createDirectories(folder.resolve("kiln"));
        Files.writeString(BuildPage.file(layout()), "of an image that is gone");
        Files.writeString(folder.resolve("kiln/report.json"), "{\"model\": 7}");
        BuildPage.write(layout());
        assertThat(BuildPage.file(layout())).doesNotExist();
    }
}
