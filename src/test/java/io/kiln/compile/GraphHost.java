// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.artifact.RuntimeFiles.RuntimeConfig;
import io.kiln.base.Bytes;
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

/**
 * Models with graphs as one program of this computer, which runs them on the graph executor of the C runtime: with every warning as an error and
 * under sanitizers. The program is given a folder for each model with graph, parameters and inputs, and writes the outputs there.
 */
final class GraphHost {
    private static final Path DRIVER =
            Path.of("src", "test", "resources", "io", "kiln", "compile", "packed", "graph.c");
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final Path folder;

    private GraphHost(Path folder) {
        this.folder = folder;
    }

    /** Builds the program of models that share a system library. */
    static GraphHost build(Path folder, List<ModelLibrary> models, List<String> flags) {
        List<String> line = new ArrayList<>(List.of("-std=c11", "-O0", "-fsanitize=address,undefined"));
        line.addAll(List.of("-fno-sanitize-recover=all", "-fsanitize-undefined-trap-on-error"));
        line.add("--param=asan-instrumentation-with-call-threshold=0");
        line.addAll(List.of("-ffunction-sections", "-Wl,--gc-sections"));
        line.addAll(flags);
        line.add("-Iinclude");
        RuntimeConfig config =
                RuntimeConfig.of(models.stream().map(ModelLibrary::metadata).toList());
        for (Artifact file : RuntimeFiles.runtime(Set.of(RuntimeFeature.GRAPH_EXECUTOR))) {
            WholeFiles.write(
                    folder.resolve(file.fileName()), config.applyTo(file).text());
            if (file.fileName().endsWith(".c")) {
                line.add(file.fileName());
            }
        }
        for (ModelLibrary model : models) {
            for (Artifact source : model.artifacts().of(ArtifactKind.SOURCE)) {
                WholeFiles.write(folder.resolve(source.fileName()), source.text());
                line.add(source.fileName());
            }
        }
        line.add(DRIVER.toAbsolutePath().toString());
        line.addAll(List.of("-o", "program", "-lm"));
        ProcessResult result =
                KeptPrograms.make(folder, "program", Command.of("cc", line).within(LIMIT));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return new GraphHost(folder);
    }

    /**
     * Runs one model.
     *
     * @param input all inputs, concatenated
     * @return all outputs, concatenated
     */
    Bytes run(ModelLibrary model, Bytes input) {
        try {
            Path files = Files.createDirectories(folder.resolve(model.metadata().name()));
            Files.write(files.resolve("graph"), only(model, ArtifactKind.GRAPH));
            Files.write(files.resolve("params"), only(model, ArtifactKind.PARAMETERS));
            Files.write(files.resolve("in"), input.toArray());
            ProcessResult result = ProcessRunner.run(Command.of(
                            "./program",
                            Stream.concat(
                                            Stream.of(files.toString()),
                                            model.metadata().inputs().stream().map(tensor -> tensor.name()))
                                    .toList())
                    .in(folder)
                    .within(LIMIT));
            assertThat(result.exitCode())
                    .as(model.metadata().name() + ": " + result.message())
                    .isZero();
            return Bytes.wrap(Files.readAllBytes(files.resolve("out")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] only(ModelLibrary model, ArtifactKind kind) {
        List<Artifact> found = model.artifacts().of(kind);
        assertThat(found).as(kind + " of " + model.metadata().name()).hasSize(1);
        return found.get(0).content().toArray();
    }
}
