// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.resolve.ToolchainChoice;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.state.BuildLock;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Writes the folder of a template whose Project API server is Kiln.
 *
 * @param environment where the server finds compilers
 */
public record TemplateStep(Log log, ToolchainEnvironment environment) {
    /**
     * Writes the template; one that is there is replaced.
     *
     * @param spec the build whose boards and trust the server has
     * @param template the folder
     * @param classPath Kiln and everything that it needs
     * @throws KilnException if the folder is a generated project, or there is no compiler for the build's board
     */
    public void write(BuildSpec spec, Path template, List<Path> classPath) {
        if (Files.exists(template.resolve(ProjectFolder.ARCHIVE))) {
            throw Failure.API.exception("this is a generated project", template.toString(), "a template's folder");
        }
        BuildLock.hold(log, spec.layout(), "kiln:project-api", () -> writeLocked(spec, template, classPath));
    }

    private void writeLocked(BuildSpec spec, Path template, List<Path> classPath) {
        unpackCompiler(spec);
        ProjectSettings settings = ProjectSettings.of(
                environment,
                spec.machine().boardSources(),
                spec.image().options().trusted());
        TemplateFolder.write(template, settings, spec.layout().userBoards(), classPath);
        log.info("Wrote the template " + template + ": " + spec.boards().ids().size() + " boards");
    }

    /** Unpacks the compiler, because the server fetches nothing. */
    private void unpackCompiler(BuildSpec spec) {
        Board board = spec.boards().find(spec.board());
        Toolchains.resolve(
                ToolchainChoice.of(spec.toolchain(), board), TargetOptions.parse(board.target()), environment);
    }
}
