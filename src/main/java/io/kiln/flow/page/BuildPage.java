// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.page;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.pages.overview.JteoverviewGenerated;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ModelPart;
import io.kiln.report.FrontReport;
import io.kiln.report.Json;
import io.kiln.report.ProfileReport;
import io.kiln.report.VerifyReport;
import io.kiln.report.graph.Graph;
import io.kiln.report.overview.Overview;
import io.kiln.report.page.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * {@code index.html} in the folder of reports. Every step that writes a report writes the page again, so that the page
 * always agrees with the reports.
 */
public final class BuildPage {
    private BuildPage() {}

    public static Path file(Layout layout) {
        return layout.reports().resolve("index.html");
    }

    /** Writes the page from the existing reports; without the report of an image there is no page. */
    public static void write(Layout layout) {
        Optional<BuildReport> built = read(layout.reports().resolve("report.json"), BuildReport.class);
        if (built.isPresent()) {
            WholeFiles.write(file(layout), page(overview(layout, built.get())));
            return;
        }
        WholeFiles.delete(file(layout));
    }

    /**
     * Copies the page to another place.
     *
     * @return the copy
     * @throws KilnException if there is no page
     */
    public static Path copy(Layout layout, Path to) {
        if (!Files.isRegularFile(file(layout))) {
            throw Failure.PROJECT.exception(
                    "there is no page of the build",
                    file(layout).toString(),
                    "an image that was linked",
                    "Run mvn verify");
        }
        WholeFiles.copy(file(layout), to);
        return to;
    }

    private static String page(Overview overview) {
        return Page.of((out, html) -> JteoverviewGenerated.render(out, html, overview));
    }

    private static Overview overview(Layout layout, BuildReport report) {
        return new Overview(
                report,
                read(layout.reports().resolve("profile.json"), ProfileReport.class),
                read(layout.reports().resolve("verify.json"), VerifyReport.class),
                read(layout.reports().resolve("front.json"), FrontReport.class)
                        .filter(front -> isOf(front.taken(), report)),
                report.models().stream()
                        .map(ModelPart::name)
                        .map(name -> read(graph(layout, name), Graph.class))
                        .flatMap(Optional::stream)
                        .toList());
    }

    /** Whether the image that was taken is that of the build. */
    private static boolean isOf(FrontReport.Image taken, BuildReport report) {
        return taken.flash() == report.flash().total()
                && taken.ram() == report.ram().total();
    }

    /**
     * Keeps a model's graph for the page.
     *
     * @param file name of the model's file
     * @return the file written
     */
    public static Path keepGraph(Layout layout, CompiledModel model, String file) {
        Graph graph = ModelGraph.of(model, file);
        Path kept = graph(layout, model.library().metadata().name());
        Json.write(kept, graph);
        return kept;
    }

    private static Path graph(Layout layout, String name) {
        return layout.state("graph-" + name);
    }

    /** Reads a report. A damaged one is left out: the step that wrote it writes it again. */
    private static <T> Optional<T> read(Path file, Class<T> type) {
        try {
            return Files.isRegularFile(file) ? Optional.of(Json.read(file, type)) : Optional.empty();
        } catch (KilnException e) {
            return Optional.empty();
        }
    }
}
