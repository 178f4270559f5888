// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Models with packed functions as a program of this computer, with every warning as an error and under sanitizers. */
final class PackedHost {
    private static final Path RUNTIME = Path.of("src", "main", "resources", "crt");
    private static final Path DRIVERS = Path.of("src", "test", "resources", "io", "kiln", "compile", "packed");
    private static final Set<String> SOURCES = Set.of("crt_backend_api.c", "platform_defaults.c");
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private PackedHost() {}

    /**
     * Builds {@code program} in a folder.
     *
     * @param driver file with the main function
     * @param flags for all files
     */
    static void build(Path folder, List<ModelLibrary> models, String driver, List<String> flags) {
        List<String> line =
                new ArrayList<>(List.of("-std=c11", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"));
        line.addAll(List.of("-fsanitize=address,undefined", "-fno-sanitize-recover=all"));
        line.addAll(flags);
        line.add("-I" + RUNTIME.resolve("include").toAbsolutePath());
        for (ModelLibrary model : models) {
            for (Artifact source : model.artifacts().of(ArtifactKind.SOURCE)) {
                WholeFiles.write(folder.resolve(source.fileName()), source.text());
                line.add(source.fileName());
            }
        }
        line.add(DRIVERS.resolve(driver).toAbsolutePath().toString());
        line.addAll(runtime());
        line.addAll(List.of("-o", "program", "-lm"));
        ProcessResult result =
                KeptPrograms.make(folder, "program", Command.of("cc", line).within(LIMIT));
        assertThat(result.exitCode()).as(result.message()).isZero();
    }

    /** Where generated code leaves its messages. */
    private static List<String> runtime() {
        try (Stream<Path> files = Files.walk(RUNTIME.resolve("src"))) {
            return files.filter(file -> SOURCES.contains(file.getFileName().toString()))
                    .sorted()
                    .map(file -> file.toAbsolutePath().toString())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the program prints. */
    static List<String> run(Path folder, String... arguments) {
        ProcessResult result = ProcessRunner.run(
                Command.of("./program", List.of(arguments)).in(folder).within(LIMIT));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return result.output().lines().toList();
    }
}
