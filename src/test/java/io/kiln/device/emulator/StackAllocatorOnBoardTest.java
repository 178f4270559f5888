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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The test program of the stack allocator on a core of 32 bits, configured by a {@code crt_config.h} like microTVM's. */
class StackAllocatorOnBoardTest {
    @TempDir
    private Path folder;

    @Test
    void theAllocatorDoesWhatMicroTvmsDoes() throws IOException {
        Path sources = Files.createDirectories(folder.resolve("main"));
        Path tests = Path.of("src", "test", "c");
        String program = Files.readString(tests.resolve("crt_stack_allocator_test.c"));
        Files.writeString(sources.resolve("main.c"), "#define KILN_BOARD\n" + program);
        Files.copy(tests.resolve("check.h"), sources.resolve("check.h"));
        Files.writeString(sources.resolve("crt_config.h"), """
                #ifndef FIRMWARE_CONFIG_
                #define FIRMWARE_CONFIG_
                #include <tvm/runtime/crt/logging.h>
                #define TVM_CRT_LOG_LEVEL TVM_CRT_LOG_LEVEL_DEBUG
                #define TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
                #endif
                """);
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, "gnu", Io.CALLER, folder);

        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(30)).start(image);
                BufferedReader console =
                        new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8))) {
            assertThat(console.readLine()).isEqualTo("the stack allocator does what it should");
        }
    }
}
