// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The C runtime on the host under the sanitizers, and every file of it for a bare microcontroller. */
class CRuntimeTest {
    private static final List<String> STRICT = List.of(
            "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Wstrict-prototypes", "-Werror");
    private static final List<String> SANITIZERS =
            List.of("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"crt_stack_allocator_test", "crt_backend_api_test", "crt_platform_template_test"})
    void hostTestPasses(String test) {
        String cc = tool("cc");
        unpack();
        List<String> arguments = new ArrayList<>(STRICT);
        arguments.addAll(SANITIZERS);
        arguments.addAll(List.of("-I", folder.resolve("include").toString(), "-o", test));
        arguments.add(Path.of("src", "test", "c", test + ".c").toAbsolutePath().toString());
        arguments.addAll(sources());
        if (test.contains("template")) {
            arguments.add("platform.c");
        }

        run(Command.of(cc, arguments));
        run(Command.of(folder.resolve(test).toString()));
    }

    /** The allocator takes its settings from the compiler's options, and TVM's own tests compile it as C++. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "cc -std=c99 -DTVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK",
                "c++ -std=c++17 -x c++ -DTVM_RUNTIME_ALLOC_ALIGNMENT_BYTES=64"
            })
    void theStackAllocatorPassesWithOtherSettings(String compiler) {
        List<String> arguments = new ArrayList<>(List.of(compiler.split(" ")));
        String executable = tool(arguments.remove(0));
        unpack();
        arguments.addAll(List.of("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"));
        arguments.addAll(SANITIZERS);
        arguments.addAll(List.of("-I", folder.resolve("include").toString(), "-o", "settings"));
        arguments.add(Path.of("src", "test", "c", "crt_stack_allocator_test.c")
                .toAbsolutePath()
                .toString());
        arguments.add("src/runtime/crt/memory/stack_allocator.c");

        run(Command.of(executable, arguments));
        run(Command.of(folder.resolve("settings").toString()));
    }

    /** microTVM's file includes a header of the runtime before it defines anything, and leaves keys of Kiln's out. */
    @Test
    void theRuntimeTakesACrtConfigLikeTvms() {
        unpack();
        write("own/crt_config.h", """
                #ifndef FIRMWARE_CONFIG_
                #define FIRMWARE_CONFIG_
                #include <tvm/runtime/crt/logging.h>
                #define TVM_CRT_LOG_LEVEL TVM_CRT_LOG_LEVEL_DEBUG
                #define TVM_CRT_DEBUG 0
                #define TVM_CRT_MAX_ARGS 10
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
        List<String> arguments = new ArrayList<>(STRICT);
        arguments.addAll(List.of("-fsyntax-only", "-I", "own"));
        arguments.addAll(List.of("-I", folder.resolve("include").toString(), "program.c"));
        arguments.addAll(sources());

        run(Command.of(tool("cc"), arguments));
        write("own/crt_config.h", "");
        run(Command.of(tool("cc"), arguments));
    }

    /** The default application's framing, which is no part of the runtime, by the same rules. */
    @Test
    void framesOfTheDefaultApplicationAreThoseOfMicroTvm() {
        Path sources = Path.of("src", "main", "resources", "templates", "app").toAbsolutePath();
        Path board = Path.of("toolchains", "boards", "common").toAbsolutePath();
        List<String> arguments = new ArrayList<>(STRICT);
        arguments.addAll(SANITIZERS);
        arguments.addAll(List.of("-I", sources.toString(), "-I", board.toString(), "-o", "app_frame_test"));
        arguments.add(sources.resolve("kiln_app_frame.c").toString());
        arguments.add(
                Path.of("src", "test", "c", "app_frame_test.c").toAbsolutePath().toString());

        run(Command.of(tool("cc"), arguments));
        run(Command.of(folder.resolve("app_frame_test").toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"cc", "arm-none-eabi-gcc"})
    void everyFileCompilesFreestandingByItself(String compiler) {
        String executable = tool(compiler);
        unpack();
        List<String> files = new ArrayList<>(sources());
        RuntimeFiles.runtime().stream()
                .map(Artifact::fileName)
                .filter(name -> name.endsWith(".h"))
                .forEach(header -> {
                    String file = header.replaceAll("[/.]", "_") + ".c";
                    write(file, "#include <" + header.substring("include/".length()) + ">\nint unused(void);\n");
                    files.add(file);
                });
        List<String> arguments = new ArrayList<>(STRICT);
        arguments.addAll(List.of(
                "-ffreestanding",
                "-fsyntax-only",
                "-I",
                folder.resolve("include").toString()));
        arguments.addAll(files);

        run(Command.of(executable, arguments));
    }

    @Test
    void filesAreSortedAndSayTheirLicence() {
        List<String> names =
                RuntimeFiles.runtime().stream().map(Artifact::fileName).toList();

        assertThat(names)
                .isSorted()
                .contains("include/dlpack/dlpack.h", "include/tvm/runtime/crt/platform.h",
                        "src/runtime/crt/memory/stack_allocator.c");
        assertThat(RuntimeFiles.runtime()).allMatch(a -> a.text().startsWith("/* SPDX-License-Identifier: Apache-2.0"));
        assertThat(RuntimeFiles.templates())
                .extracting(Artifact::fileName)
                .containsExactly("crt_config.h.template", "platform.c.template");
    }

    private List<String> sources() {
        return RuntimeFiles.runtime().stream()
                .map(Artifact::fileName)
                .filter(name -> name.endsWith(".c"))
                .toList();
    }

    private void unpack() {
        RuntimeFiles.runtime().forEach(file -> write(file.fileName(), file.text()));
        RuntimeFiles.templates().forEach(file -> write(file.fileName().replace(".template", ""), file.text()));
    }

    private void write(String name, String text) {
        try {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void run(Command command) {
        ProcessResult result = ProcessRunner.run(command.in(folder));
        assertThat(result.succeeded())
                .as(command.text() + "\n" + result.message())
                .isTrue();
    }

    /** Outside CI a missing compiler skips the test. */
    private static String tool(String name) {
        boolean isFound = Executables.find(name).isPresent();
        boolean isRequired = "true".equals(System.getenv("CI"));
        assumeTrue(isFound || isRequired, () -> "no " + name + " on the PATH");
        assertThat(isFound).as(name + " is on the PATH").isTrue();
        return name;
    }
}
