// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The model of the NPU on this computer, under the sanitizers, with a program of {@code src/test/c}. */
final class NpuHost {
    private static final List<String> FLAGS = List.of(
            "-std=c11",
            "-D_POSIX_C_SOURCE=200809L",
            "-O1",
            "-g",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Wshadow",
            "-Wpedantic",
            "-Wstrict-prototypes",
            "-Werror",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-I.");

    private final Path folder;
    private final String program;

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

    private NpuHost(Path folder, String program) {
        this.folder = folder;
        this.program = program;
    }

    /** Compiles a program with the model. */
    static NpuHost compile(Path folder, String program) {
        List<String> arguments = new ArrayList<>(FLAGS);
        ResourceTree.read("npu").forEach((name, content) -> {
            WholeFiles.write(folder.resolve(name), content.toArray());
            if (name.endsWith(".c")) {
                arguments.add(name);
            }
        });
        for (String file : List.of("ethosu_job.h", "check.h", program + ".c")) {
            WholeFiles.write(folder.resolve(file), read(Path.of("src", "test", "c", file)));
        }
        arguments.addAll(List.of(program + ".c", "-o", program));
        ProcessResult result = KeptPrograms.make(
                folder, program, Command.of("cc", arguments).within(Duration.ofMinutes(5)));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return new NpuHost(folder, program);
    }

    /** Runs a job; what the sanitizers find is an error. */
    Answer run(NpuJob job, String... more) {
        WholeFiles.write(folder.resolve("job.bin"), job.bytes());
        List<String> arguments = new ArrayList<>(List.of("job.bin", "out.bin"));
        arguments.addAll(List.of(more));
        ProcessResult result = start(arguments);
        return new Answer(
                result.exitCode(), result.output(), Bytes.wrap(read(folder.resolve("out.bin"))));
    }

    /** Runs a program that needs no job. */
    ProcessResult start(List<String> arguments) {
        ProcessResult result = ProcessRunner.run(Command.of(folder.resolve(program).toString(), arguments)
                .in(folder)
                .within(Duration.ofHours(12)));
        assertThat(result.exitCode()).as(result.message()).isLessThanOrEqualTo(1);
        assertThat(result.message()).doesNotContain("Sanitizer", "runtime error");
        return result;
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
