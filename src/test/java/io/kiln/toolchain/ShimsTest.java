// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShimsTest {
    private static final Path SHIMS = Path.of("src", "main", "resources", "shims", "src");

    @TempDir
    private Path folder;

    /** The C program compares them with this computer's own arithmetic and C library. */
    @Test
    void theShimsComputeWhatThisComputerComputes() throws IOException {
        TestPrograms.need("cc");
        String program = folder.resolve("shims_test").toString();
        List<String> line = new ArrayList<>(List.of("cc", "-O2", "-std=c11", "-ffp-contract=off", "-fno-builtin"));
        line.addAll(List.of("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-I" + SHIMS, "-o", program));
        line.add(Path.of("src", "test", "c", "shims_test.c").toString());
        try (Stream<Path> sources = Files.list(SHIMS)) {
            sources.filter(file -> file.toString().endsWith(".c")).sorted().forEach(file -> line.add(file.toString()));
        }
        line.add("-lm");
        ProcessResult compiled = ProcessRunner.run(Command.ofLine(line));
        assertThat(compiled.message()).isEmpty();
        ProcessResult result = ProcessRunner.run(Command.of(program));
        assertThat(result.output()).isEqualTo("0 differences\n");
        assertThat(result.succeeded()).isTrue();
    }
}
