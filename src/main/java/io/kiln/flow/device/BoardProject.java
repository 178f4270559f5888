// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.device.projectapi.ProjectServer;
import io.kiln.device.projectapi.ProjectServer.ServerLimits;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.ProjectSpec;
import io.kiln.toolchain.board.Flashing.ProjectApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The project of a board that a Project API server flashes. If the board names a template, the project is generated from the build's
 * archive in the output folder; otherwise it is the one that the board names, which has to hold this archive.
 */
final class BoardProject {
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
