// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Framing, session and RPC server, and the arithmetic of its times, on the host under the sanitizers. */
class RpcRuntimeTest {
    /** Streams in every build. */
    private static final int STREAMS = 4000;

    private static final int SEED = 20260101;

    private static final Path TESTS = Path.of("src", "test", "c").toAbsolutePath();
    private static final List<String> FLAGS = Stream.concat(
                    TestPrograms.SANITIZED.stream(), Stream.of("-std=c11", "-I", "include"))
            .toList();

    @TempDir
    private static Path folder;

    @BeforeAll
    static void compileTheRuntime() {
        TestToolchains.resolve("host", "c -keys=cpu -model=host");
        RuntimeFiles.runtime(Set.of(RuntimeFeature.RPC_SERVER)).forEach(RpcRuntimeTest::write);
        run("cc", List.of(FLAGS, List.of("-c"), sources()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "crt_quotient_test",
                "rpc_framing_test",
                "rpc_session_test",
                "rpc_server_test",
                "rpc_server_executor_test",
                "rpc_server_limits_test"
            })
    void hostTestPasses(String test) {
        run("cc", List.of(FLAGS, List.of("-o", test, TESTS.resolve(test + ".c").toString()), objects(test)));
        run(folder.resolve(test).toString(), List.of());
    }

    /** A firmware in C++ has no exceptions and no types at run time. */
    @Test
    void theClassesOfMicroTvmAreThere() {
        List<String> classes = List.of(
                "-std=c++17",
                "-Wall",
                "-Wextra",
                "-Wconversion",
                "-Wshadow",
                "-Werror",
                "-fno-exceptions",
                "-fno-rtti",
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-I",
                "include");
        run(
                "c++",
                List.of(
                        classes,
                        List.of(
                                "-o",
                                "classes",
                                TESTS.resolve("rpc_classes_test.cpp").toString()),
                        objects("rpc_classes")));
        run(folder.resolve("classes").toString(), List.of());
    }

    /** Cut, repeated, reordered, flipped and inserted bytes, on the line and inside packets; {@code nightly} takes a million streams. */
    @Test
    void noStreamReadsOrWritesOutsideTheServersMemory() {
        String streams = Integer.toString(Integer.getInteger("kiln.rpc.streams", STREAMS));
        run(
                "cc",
                List.of(FLAGS, List.of("-o", "fuzz", TESTS.resolve("rpc_fuzz.c").toString()), objects("rpc_server")));
        run(folder.resolve("fuzz").toString(), List.of(List.of(Integer.toString(SEED), streams)));
    }

    private static List<String> sources() {
        return RuntimeFiles.runtime(Set.of(RuntimeFeature.RPC_SERVER)).stream()
                .map(Artifact::fileName)
                .filter(name -> name.endsWith(".c"))
                .toList();
    }

    /** The server calls hooks that tests without it lack. */
    private static List<String> objects(String test) {
        return sources().stream()
                .filter(name -> test.startsWith("rpc_server") || name.contains("rpc_common"))
                .map(name -> name.substring(name.lastIndexOf('/') + 1).replace(".c", ".o"))
                .toList();
    }

    private static void write(Artifact file) {
        WholeFiles.write(folder.resolve(file.fileName()), file.text());
    }

    private static void run(String executable, List<List<String>> arguments) {
        Command command =
                Command.of(executable, arguments.stream().flatMap(List::stream).toList());
        ProcessResult result = ProcessRunner.run(command.in(folder));
        assertThat(result.succeeded())
                .as(command.text() + "\n" + result.message())
                .isTrue();
    }
}
