// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Times what {@code kiln:generate} does, in a Java process of its own with 2 GiB of heap and the options that the archetype gives Maven: the
 * processor time of all its threads, which is more than the wall time of an idle machine.
 */
public final class GenerateTime {
    private static final Path OPTIONS =
            Path.of("src/main/archetypes/kiln-firmware/archetype-resources/.mvn/jvm.config");

    private GenerateTime() {}

    /** Processor time in milliseconds from the start of the process to its end. */
    static long millis(Path model, Path folder) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessResult result =
                ProcessRunner.run(Command.of(java, arguments(model, folder)).within(Duration.ofMinutes(20)));
        if (!result.succeeded()) {
            throw new IllegalStateException("generating C of " + model + ": " + result.message());
        }
        return Long.parseLong(result.output().strip());
    }

    private static List<String> arguments(Path model, Path folder) {
        try {
            // A new folder each time, since nothing is generated where nothing changed.
            Path out = Files.createTempDirectory(folder, "generate");
            List<String> arguments =
                    new ArrayList<>(List.of(Files.readString(OPTIONS).strip().split("\\s+")));
            arguments.addAll(List.of(
                    "-Xmx2g",
                    "-Dslf4j.internal.verbosity=ERROR",
                    "-classpath",
                    System.getProperty("java.class.path"),
                    GenerateTime.class.getName(),
                    model.toAbsolutePath().toString(),
                    out.toString()));
            return arguments;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Generates the C of a model, the first argument, into a folder, the second one. */
    public static void main(String[] args) {
        Path out = Path.of(args[1]);
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET))
                .generate(SpecDraft.of(
                                new Layout(out.resolve("project"), out, "model"),
                                List.of(new ModelSource(Path.of(args[0]), "model")),
                                "mps2-an386")
                        .toolchain(Optional.of("gnu"))
                        .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                        .build());
        System.out.println(
                ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis());
    }
}
