// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.base.WholeFiles;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** The files by which a folder is a template or a project of Kiln's Project API server. */
final class TemplateFolder {
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
        WholeFiles.writeProgram(folder.resolve(LAUNCHER), launcher(classPath).getBytes(StandardCharsets.UTF_8));
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
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String path = classPath.stream()
                .map(file -> file.toAbsolutePath().normalize().toString())
                .collect(Collectors.joining(File.pathSeparator));
        return "#!/bin/sh\nexec " + quoted(java) + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp " + quoted(path) + " "
                + ProjectApiServer.class.getName() + " \"$@\"\n";
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
