// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.resolve.Resolver.ToolchainChoice;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.state.UpToDate.BuildLock;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

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

    /** The files by which a folder is a template or a project of Kiln's Project API server. */
    static final class TemplateFolder {
        private static final String LAUNCHER = "launch_microtvm_api_server.sh";
        private static final Path BOARDS = Path.of("src", "main", "boards");

        private TemplateFolder() {}

        /**
         * Writes a template.
         *
         * @param boards folder of the user's own boards; need not exist
         * @param classPath Kiln and everything that it needs
         */
        static void write(Path folder, ProjectSettings settings, Path boards, List<Path> classPath) {
            WholeFiles.writeProgram(
                    folder.resolve(LAUNCHER), launcher(classPath).getBytes(StandardCharsets.UTF_8));
            settings.write(folder);
            copyFiles(boards, folder.resolve(BOARDS));
        }

        /** Writes to a project what its template has, with other settings. */
        static void copy(Path template, Path project, ProjectSettings settings) {
            WholeFiles.writeProgram(
                    project.resolve(LAUNCHER),
                    WholeFiles.read(template.resolve(LAUNCHER)).toArray());
            settings.write(project);
            copyFiles(template.resolve(BOARDS), project.resolve(BOARDS));
        }

        /** The script that launches the server. It runs only briefly: full optimization does not pay, and one collector thread is enough. */
        private static String launcher(List<Path> classPath) {
            String java =
                    Path.of(System.getProperty("java.home"), "bin", "java").toString();
            String path = classPath.stream()
                    .map(file -> file.toAbsolutePath().normalize().toString())
                    .collect(Collectors.joining(File.pathSeparator));
            return "#!/bin/sh\nexec " + quoted(java) + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp " + quoted(path)
                    + " " + ProjectApiServer.class.getName() + " \"$@\"\n";
        }

        private static String quoted(String text) {
            return "'" + text.replace("'", "'\\''") + "'";
        }

        /** Copies every file below a folder, if there is one. */
        static void copyFiles(Path from, Path to) {
            if (Files.isDirectory(from)) {
                WholeFiles.below(from)
                        .forEach(file -> WholeFiles.copy(
                                file, to.resolve(from.relativize(file).toString())));
            }
        }
    }
}
