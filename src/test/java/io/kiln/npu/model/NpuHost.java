// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The model of the NPU on this computer, under the sanitizers: it runs jobs, damages them, and checks itself. It has few accumulators, so that
 * most convolutions take several passes.
 */
final class NpuHost {
    private static final List<String> FLAGS = Stream.concat(
                    TestPrograms.SANITIZED.stream(),
                    Stream.of("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O1", "-DETHOSU_MODEL_ACCUMULATORS=256", "-I."))
            .toList();
    private static final List<String> TESTS =
            List.of("ethosu_job.h", "check.h", "ethosu_host.c", "ethosu_fuzz.c", "ethosu_checks.c");
    private static final String PROGRAM = "ethosu_host";

    private final Path folder;

    /** What a program printed, and what it took out of memory. */
    record Answer(int exitCode, String text, Bytes taken) {
        /** The lines of a case. */
        List<String> lines(int number) {
            List<String> lines = text.lines().toList();
            int from = lines.indexOf("case " + number) + 1;
            int to = lines.indexOf("case " + (number + 1));
            return lines.subList(from, to < 0 ? lines.size() : to);
        }
    }

    private NpuHost(Path folder) {
        this.folder = folder;
    }

    /** Compiles the model. */
    static NpuHost compile(Path folder) {
        List<String> arguments = new ArrayList<>(FLAGS);
        ResourceTree.read("npu").forEach((name, content) -> WholeFiles.write(folder.resolve(name), content.toArray()));
        TESTS.forEach(file -> WholeFiles.write(folder.resolve(file), read(Path.of("src", "test", "c", file))));
        Stream.concat(ResourceTree.read("npu").keySet().stream(), TESTS.stream())
                .filter(name -> name.endsWith(".c"))
                .forEach(arguments::add);
        arguments.addAll(List.of("-o", PROGRAM));
        ProcessResult result =
                KeptPrograms.make(folder, PROGRAM, Command.of("cc", arguments).within(Duration.ofMinutes(5)));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return new NpuHost(folder);
    }

    /** Runs a job, and takes out of memory what it says. */
    Answer run(NpuJob job) {
        WholeFiles.write(folder.resolve("job.bin"), job.bytes());
        ProcessResult result = start(List.of("job.bin", "out.bin"));
        return new Answer(result.exitCode(), result.output(), Bytes.wrap(read(folder.resolve("out.bin"))));
    }

    /** Runs a job again and again, damaged. */
    String damage(NpuJob job, long seed, int cases) {
        WholeFiles.write(folder.resolve("job.bin"), job.bytes());
        ProcessResult result = start(List.of("job.bin", Long.toString(seed), Integer.toString(cases)));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return result.output();
    }

    /** The driver's interface, and known streams of weights. */
    String check() {
        ProcessResult result = start(List.of());
        assertThat(result.exitCode()).as(result.message()).isZero();
        return result.output();
    }

    /** What the sanitizers find is an error, and an exit code of its own. */
    private ProcessResult start(List<String> arguments) {
        ProcessResult result =
                ProcessRunner.run(Command.of(folder.resolve(PROGRAM).toString(), arguments)
                        .in(folder)
                        .within(Duration.ofHours(12))
                        .with("ASAN_OPTIONS", "exitcode=3")
                        .with("UBSAN_OPTIONS", "exitcode=3"));
        assertThat(result.exitCode()).as(result.message()).isLessThanOrEqualTo(1);
        return result;
    }

    static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
