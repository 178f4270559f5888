// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.ProjectSpec;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Builds a project of somebody else's Project API server, such as one for Zephyr or Arduino, and flashes its board. With a
 * template it first compiles the model and generates the project. The server is a program, which runs with your rights.
 *
 * @since 0.1.0
 */
@Mojo(name = "project", requiresProject = false, threadSafe = true)
public final class ProjectMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.project.skip", defaultValue = "false")
    private boolean skipProject;

    /** Folder of the project; with a template it must not exist. */
    @Parameter(property = "kiln.project")
    private File directory;

    /** Folder of the template to generate the project from. If not set, the project exists already. */
    @Parameter(property = "kiln.project.template")
    private File template;

    /** Options of the server, {@code name=value} separated by commas. */
    @Parameter(property = "kiln.project.options", defaultValue = "")
    private String options;

    /**
     * Folder of the C runtime that the project gets. If not set, Kiln's own; a template that copies build files from the
     * runtime's folder needs the one that was made for it.
     */
    @Parameter(property = "kiln.project.crt")
    private File crt;

    /** Whether to flash the board after the build. */
    @Parameter(property = "kiln.project.flash", defaultValue = "true")
    private boolean flashProject;

    /** Longest time in seconds for each of generating, building and flashing. */
    @Parameter(property = "kiln.project.timeout", defaultValue = "1800")
    private int timeout;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipProject;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    Layout layout(List<ModelSource> sources) {
        return byHand(outputDirectory, sources);
    }

    @Override
    void run() {
        ProjectSpec project = new ProjectSpec(
                path(directory)
                        .orElseThrow(() -> Failure.CONFIG.exception(
                                "kiln.project is not set", "", "the project's folder", "Set it")),
                path(template),
                path(crt),
                ProjectSpec.options(options == null ? "" : options),
                isFlashed(),
                Duration.ofSeconds(timeout));
        flow().project(spec(), project);
    }

    /** {@code <flash>} is a group of parameters of other goals; its text is this goal's. */
    private boolean isFlashed() {
        return parameters()
                .element("flash")
                .map(xml -> xml.getValue("").strip())
                .filter(text -> !text.isEmpty())
                .map(Boolean::parseBoolean)
                .orElse(flashProject);
    }

    private Optional<Path> path(File file) {
        return Optional.ofNullable(file).map(given -> folder().resolve(given.toPath()));
    }
}
