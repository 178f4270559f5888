// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test programs of the C runtime on a core of 32 bits, configured by a {@code crt_config.h} like microTVM's, in one image: each becomes a
 * function of its own. Also that an image has the parts of the runtime that it uses, and no others.
 */
class CRuntimeOnBoardTest {
    private static final Path TESTS = Path.of("src", "test", "c");

    @TempDir
    private Path folder;

    @Test
    void theRuntimeDoesWhatMicroTvmsDoes() throws IOException {
        List<String> tests = List.of("stack_allocator", "func_registry", "page_allocator");
        StringBuilder main = new StringBuilder();
        for (String test : tests) {
            String program = Files.readString(TESTS.resolve("crt_" + test + "_test.c"));
            write(test + ".c", "#define KILN_BOARD\n#define main " + test + "\nint main(void);\n" + program);
            main.append("int ").append(test).append("(void);\n");
        }
        main.append("int main(void) {\n");
        tests.forEach(test -> main.append("  ").append(test).append("();\n"));
        write("main.c", main + "  return 0;\n}\n");
        write("check.h", Files.readString(TESTS.resolve("check.h")));
        write("crt_config.h", """
                #ifndef FIRMWARE_CONFIG_
                #define FIRMWARE_CONFIG_
                #include <tvm/runtime/crt/logging.h>
                #define TVM_CRT_LOG_LEVEL TVM_CRT_LOG_LEVEL_DEBUG
                #define TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
                #define TVM_CRT_MAX_NDIM 6
                #define TVM_CRT_MAX_ARGS 10
                #define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 120
                #define TVM_CRT_MAX_REGISTERED_MODULES 2
                #define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
                #endif
                """);
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, "gnu", Io.CALLER, folder);

        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(30)).start(image);
                BufferedReader console =
                        new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8))) {
            for (String test : List.of("stack allocator", "function registry", "page allocator")) {
                assertThat(console.readLine()).isEqualTo("the " + test + " does what it should");
            }
        }
        assertThat(runtime())
                .contains("crt/common/func_registry.c", "crt/memory/page_allocator.c")
                .doesNotContain("crt/aot_executor/aot_executor.c");
    }

    @Test
    void theDefaultApplicationHasTheBaseOnly() throws IOException {
        Path image = HandWrittenModel.build(HandWrittenModel.board("mps2-an386"), "gnu", Io.CALLER, folder);

        assertThat(image).exists();
        assertThat(runtime())
                .containsExactlyInAnyOrder(
                        "crt/common/crt_backend_api.c",
                        "crt/common/platform_defaults.c",
                        "crt/memory/stack_allocator.c");
    }

    /** The sources of the runtime in the C project. */
    private List<String> runtime() throws IOException {
        Path sources = folder.resolve("firmware/runtime/src/runtime");
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> sources.relativize(file).toString().replace('\\', '/'))
                    .toList();
        }
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(Files.createDirectories(folder.resolve("main")).resolve(name), text);
    }
}
