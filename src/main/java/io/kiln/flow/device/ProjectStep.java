// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.device.projectapi.ProjectServer;
import io.kiln.device.projectapi.ProjectServer.ServerLimits;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.ProjectSpec;
import io.kiln.toolchain.board.Flashing.ProjectApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Generates a project from a template, builds it and flashes a board, all by the Project API server in its folder. */
public final class ProjectStep {
    private final Log log;
    private final Layout layout;
    private final ProjectSpec project;
    private final ServerLimits limits;

    public ProjectStep(Log log, Layout layout, ProjectSpec project) {
        this.log = log;
        this.layout = layout;
        this.project = project;
        this.limits = new ServerLimits(ServerLimits.DEFAULT.answer(), project.limit());
    }

    /**
     * Generates the project from the build's archive. If that fails, no project is left.
     *
     * @param template the template's folder
     * @throws KilnException if the archive has C of somebody whom the build does not trust: the server compiles it
     *     unchecked
     */
    public void generate(ResolvedBuild build, Path template) {
        Path folder = project.directory();
        if (Files.exists(folder)) {
            throw Failure.API.exception(
                    "the project exists already",
                    folder.toString(),
                    "a new folder",
                    "Delete it, or leave kiln.project.template out to build and flash it");
        }
        requireTrusted(build.spec().image().options().trusted());
        try (ProjectServer server = server(template, "project-template.log")) {
            server.generate(GenerateStep.archive(layout), runtime(), folder, project.options());
            log.info("Generated " + folder + " from the template of platform "
                    + server.info().platform());
        } catch (KilnException e) {
            WholeFiles.remove(folder);
            throw e;
        }
    }

    /** Builds the project, and flashes the board if that is wanted. */
    public void buildAndFlash() {
        try (ProjectServer server = server(project.directory(), "project.log")) {
            server.build(project.options());
            log.info("Built " + project.directory());
            if (project.flash()) {
                server.flash(project.options());
                log.info("Flashed the board of " + project.directory());
            }
        }
    }

    private ProjectServer server(Path folder, String logName) {
        return ProjectServer.start(folder, limits, Optional.of(layout.reports().resolve(logName)));
    }

    private void requireTrusted(TrustedArchives trusted) {
        Problems problems = new Problems(Failure.API);
        for (ModelLibrary library : GenerateStep.store(layout).read()) {
            if (library.isForeign()
                    && library.origin().filter(trusted::contains).isEmpty()) {
                problems.add(
                        "the C of an archive that is not trusted would be compiled unchecked",
                        library.metadata().name(),
                        "a model compiled here, or an archive that the build trusts",
                        library.origin().map(TrustedArchives::advice).orElse(""));
            }
        }
        problems.throwIfAny();
    }

    /** The folder of the C runtime; Kiln's own is unpacked first. */
    private Path runtime() {
        return project.runtime().orElseGet(() -> {
            Path folder = layout.out().resolve("crt");
            WholeFiles.clear(folder);
            RuntimeFiles.runtime()
                    .forEach(file -> WholeFiles.write(
                            folder.resolve(file.fileName()), file.content().toArray()));
            return folder;
        });
    }

    /**
     * The project of a board that a Project API server flashes. If the board names a template, the project is generated from the build's
     * archive in the output folder; otherwise it is the one that the board names, which has to hold this archive.
     */
    static final class BoardProject {
        /** Name of the archive in a generated project. */
        private static final String ARCHIVE = "model.tar";

        private final ResolvedBuild build;
        private final ProjectApi how;
        private final Path given;

        BoardProject(ResolvedBuild build, ProjectApi how) {
            this.build = build;
            this.how = how;
            this.given = layout().project().resolve(how.directory()).normalize();
        }

        private Layout layout() {
            return build.spec().layout();
        }

        private boolean isTemplate() {
            return !Files.exists(given.resolve(ARCHIVE));
        }

        Path directory() {
            return isTemplate() ? layout().reports().resolve("board-project") : given;
        }

        /** Has the server make an image of the archive, and flash the board. */
        void flash(Log log) {
            ProjectSpec project = new ProjectSpec(
                    directory(),
                    Optional.of(given).filter(folder -> isTemplate()),
                    Optional.empty(),
                    how.options(),
                    true,
                    ServerLimits.DEFAULT.work());
            ProjectStep step = new ProjectStep(log, layout(), project);
            if (isTemplate()) {
                WholeFiles.remove(directory());
                step.generate(build, given);
            } else {
                requireSameArchive();
            }
            step.buildAndFlash();
        }

        private void requireSameArchive() {
            Path archive = GenerateStep.archive(layout());
            Path held = given.resolve(ARCHIVE);
            try {
                if (Files.mismatch(archive, held) >= 0) {
                    throw Failure.API.exception(
                            "the project was generated from another archive",
                            held.toString(),
                            "the build's " + archive,
                            "Generate it again by kiln:project, or let flash.projectApi.directory name the template");
                }
            } catch (IOException e) {
                throw FileFailure.of("cannot compare " + held + " with", archive, e);
            }
        }

        /** Starts the project's server, for the line to the board. */
        ProjectServer start() {
            return ProjectServer.start(
                    directory(),
                    ServerLimits.DEFAULT,
                    Optional.of(layout().reports().resolve("project.log")));
        }

        ProjectApi how() {
            return how;
        }
    }
}
