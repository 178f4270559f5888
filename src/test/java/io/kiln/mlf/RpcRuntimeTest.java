// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Framing and session of the RPC server, and the arithmetic of its times, on the host under the sanitizers. */
class RpcRuntimeTest {
    private static final Path RUNTIME =
            Path.of("src", "main", "resources", "crt").toAbsolutePath();
    private static final Path TESTS = Path.of("src", "test", "c").toAbsolutePath();
    private static final List<String> FLAGS = List.of(
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Wshadow",
            "-Wpedantic",
            "-Wstrict-prototypes",
            "-Werror",
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"rpc_framing_test", "rpc_session_test", "crt_quotient_test"})
    void hostTestPasses(String test) throws IOException {
        List<String> arguments = new ArrayList<>(FLAGS);
        arguments.addAll(List.of("-I", RUNTIME.resolve("include").toString(), "-o", test));
        arguments.add(TESTS.resolve(test + ".c").toString());
        arguments.addAll(sources("src/runtime/crt/microtvm_rpc_common"));

        run(Command.of(compiler(), arguments));
        run(Command.of(folder.resolve(test).toString()));
    }

    private static List<String> sources(String part) throws IOException {
        try (Stream<Path> files = Files.list(RUNTIME.resolve(part))) {
            return files.map(Path::toString)
                    .filter(file -> file.endsWith(".c"))
                    .sorted()
                    .toList();
        }
    }

    private void run(Command command) {
        ProcessResult result = ProcessRunner.run(command.in(folder));
        assertThat(result.succeeded())
                .as(command.text() + "\n" + result.message())
                .isTrue();
    }

    /** Outside CI a missing compiler skips the test. */
    private static String compiler() {
        boolean isFound = Executables.find("cc").isPresent();
        assumeTrue(isFound || "true".equals(System.getenv("CI")), "no cc on the PATH");
        assertThat(isFound).as("cc is on the PATH").isTrue();
        return "cc";
    }
}
