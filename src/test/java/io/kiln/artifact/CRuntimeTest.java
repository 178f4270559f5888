// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The C runtime on the host under the sanitizers. It is compiled once, and each test program is linked with it. */
class CRuntimeTest {
    private static final List<String> STRICT = List.of(
            "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Wstrict-prototypes", "-Werror");
    private static final List<String> CPP =
            List.of("-std=c++17", "-x", "c++", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror");
    private static final List<String> SANITIZERS =
            List.of("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", "include");
    private static final Set<RuntimeFeature> WITHOUT_SERVER =
            EnumSet.complementOf(EnumSet.of(RuntimeFeature.RPC_SERVER));

    /** Mutated graphs in every build. */
    private static final int GRAPHS = 20000;

    private static final int SEED = 20260101;

    private static final Path TESTS = Path.of("src", "test", "c").toAbsolutePath();

    @TempDir
    private static Path folder;

    @BeforeAll
    static void compileTheRuntime() {
        TestToolchains.resolve("host", "c -keys=cpu -model=host");
        RuntimeFiles.runtime().forEach(file -> write(file.fileName(), file.text()));
        RuntimeFiles.templates().forEach(file -> write(file.fileName().replace(".template", ""), file.text()));
        List<String> sources = sources(WITHOUT_SERVER);
        run("cc", List.of(STRICT, SANITIZERS, List.of("-c"), sources, List.of(TESTS + "/crt_platform.c")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"crt_backend_api_test", "crt_platform_template_test"})
    void programsNeedTheirPlatformOnly(String test) {
        List<String> platform = test.contains("template") ? List.of("platform.c") : List.of();
        run(
                "cc",
                List.of(
                        STRICT,
                        SANITIZERS,
                        List.of("-o", test, source(test)),
                        platform,
                        objects(Set.of(RuntimeFeature.BASE))));
        run(folder.resolve(test).toString(), List.of());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "crt_func_registry_test",
                "crt_page_allocator_test",
                "crt_runtime_api_test",
                "crt_ndarray_test",
                "crt_aot_executor_test",
                "crt_graph_executor_test"
            })
    void hostTestPasses(String test) {
        run("cc", List.of(STRICT, SANITIZERS, List.of("-o", test, source(test)), whole()));
        run(folder.resolve(test).toString(), List.of());
    }

    /** Bytes of a graph and of its parameters cut, doubled, moved and flipped; {@code nightly} takes a million cases. */
    @Test
    void noGraphReadsOrWritesOutsideTheExecutorsMemory() {
        String cases = Integer.toString(Integer.getInteger("kiln.graph.cases", GRAPHS));
        run("cc", List.of(STRICT, SANITIZERS, List.of("-o", "graph_fuzz", source("graph_fuzz")), whole()));
        run(folder.resolve("graph_fuzz").toString(), List.of(List.of(Integer.toString(SEED), cases)));
    }

    /** Programs in C++ link with the runtime, and TVM's own test of the stack allocator compiles that as C++. */
    @ParameterizedTest
    @ValueSource(strings = {"crt_func_registry_test", "crt_page_allocator_test"})
    void hostTestPassesInCpp(String test) {
        List<String> program = List.of("-o", test + "_cpp", source(test), "-x", "none");
        run("c++", List.of(CPP, SANITIZERS, program, whole()));
        run(folder.resolve(test + "_cpp").toString(), List.of());
    }

    /** The allocator takes its settings from the compiler's options. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "cc -std=c99",
                "cc -std=c99 -DTVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK",
                "c++ -std=c++17 -x c++",
                "c++ -std=c++17 -x c++ -DTVM_RUNTIME_ALLOC_ALIGNMENT_BYTES=64"
            })
    void theStackAllocatorPassesWithAllSettings(String compiler) {
        List<String> words = new ArrayList<>(List.of(compiler.split(" ")));
        String executable = words.remove(0);
        words.addAll(List.of("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-o", "settings"));
        words.add(source("crt_stack_allocator_test"));
        run(executable, List.of(words, SANITIZERS, List.of("src/runtime/crt/memory/stack_allocator.c")));
        run(folder.resolve("settings").toString(), List.of());
    }

    /** microTVM's file includes a header of the runtime before it defines anything, and leaves keys of Kiln's out. */
    @Test
    void theRuntimeTakesACrtConfigLikeTvms() {
        write("own/crt_config.h", """
                #ifndef FIRMWARE_CONFIG_
                #define FIRMWARE_CONFIG_
                #include <tvm/runtime/crt/logging.h>
                #define TVM_CRT_LOG_LEVEL TVM_CRT_LOG_LEVEL_DEBUG
                #define TVM_CRT_DEBUG 0
                #define TVM_CRT_MAX_NDIM 6
                #define TVM_CRT_MAX_ARGS 10
                #define TVM_CRT_MAX_STRLEN_DLTYPE 10
                #define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 120
                #define TVM_CRT_MAX_STRLEN_PARAM_NAME 80
                #define TVM_CRT_MAX_REGISTERED_MODULES 2
                #define TVM_CRT_MAX_PACKET_SIZE_BYTES 512
                #define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
                #endif
                """);
        write("program.c", """
                #include <crt_config.h>
                #include <tvm/runtime/crt/logging.h>
                #include <tvm/runtime/crt/stack_allocator.h>
                int32_t levels(void);
                int32_t levels(void) {
                  LOG_DEBUG("%d bytes", TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES);
                  return TVM_CRT_LOG_LEVEL;
                }
                """);
        List<String> first = List.of("-fsyntax-only", "-I", "own");
        List<String> program = List.of("program.c");
        run("cc", List.of(STRICT, first, SANITIZERS, program, sources(WITHOUT_SERVER)));
        write("own/crt_config.h", "");
        run("cc", List.of(STRICT, first, SANITIZERS, program, sources(Set.of(RuntimeFeature.BASE))));
    }

    /** The default application's framing, which is no part of the runtime, by the same rules. */
    @Test
    void framesOfTheDefaultApplicationAreThoseOfMicroTvm() {
        Path application =
                Path.of("src", "main", "resources", "templates", "app").toAbsolutePath();
        Path board = Path.of("toolchains", "boards", "common").toAbsolutePath();
        List<String> folders = List.of("-I", application.toString(), "-I", board.toString());
        List<String> program = List.of("-o", "frames", application + "/kiln_app_frame.c", source("app_frame_test"));
        run("cc", List.of(STRICT, SANITIZERS, folders, program));
        run(folder.resolve("frames").toString(), List.of());
    }

    private static String source(String test) {
        return TESTS.resolve(test + ".c").toString();
    }

    private static List<String> sources(Set<RuntimeFeature> features) {
        return RuntimeFiles.runtime(features).stream()
                .map(Artifact::fileName)
                .filter(name -> name.endsWith(".c"))
                .toList();
    }

    private static List<String> objects(Set<RuntimeFeature> features) {
        return sources(features).stream()
                .map(name -> name.substring(name.lastIndexOf('/') + 1).replace(".c", ".o"))
                .toList();
    }

    private static List<String> whole() {
        return Stream.concat(objects(WITHOUT_SERVER).stream(), Stream.of("crt_platform.o"))
                .toList();
    }

    private static void write(String name, String text) {
        try {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
