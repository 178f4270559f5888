// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** printf, scanf, malloc, new and exit of a real C library reach the board's console and memory, with either compiler. */
class LibcOnBoardTest {
    private static final String MAIN = """
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>

        struct Shape {
          virtual ~Shape() = default;
          virtual int corners() const = 0;
        };
        struct Square : Shape {
          int corners() const override { return 4; }
        };

        int main() {
          puts("ready");
          char name[16];
          int number = 0;
          if (scanf("%15s %d", name, &number) != 2) return 1;
          printf("hello %s, %05d and %x\\n", name, number, 0xbeefu);
          for (int i = 0; i < 1000; ++i) {
            char* block = static_cast<char*>(malloc(3000));
            if (block == nullptr) return 2;
            memset(block, i, 3000);
            free(block);
          }
          Shape* shape = new Square;
          printf("%d corners\\n", shape->corners());
          delete shape;
          char* volatile huge = static_cast<char*>(malloc(1u << 30));
          printf("huge: %s\\n", huge == nullptr ? "refused" : "given");
          double third = strtod("0.25", nullptr) + 1;
          fprintf(stderr, "%d\\n", static_cast<int>(third * 100));
          exit(3);
        }
        """;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"mps2-an386, gnu", "mps2-an386, clang", "qemu-riscv32, gnu", "qemu-riscv32, clang"})
    void theLibraryReachesTheBoard(String id, String name) throws IOException {
        Board board = TestFirmware.board(id);
        Toolchain toolchain = TestToolchains.with(Libc.NANO, name, board.target());
        Path sources = Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(sources.resolve("main.cpp"), MAIN);
        FirmwareRequest request = new FirmwareRequest(
                board,
                toolchain,
                Optimize.SIZE,
                new FirmwareRequest.Content(
                        List.of(TestFirmware.model("default", 100)),
                        UserCode.of(sources, new CodeFlags(List.of(), List.of(), Libc.NANO, false))),
                FirmwareRequest.Folders.in(folder.resolve("target")),
                "test");
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Path elf = FirmwareLinker.link(objects, folder.resolve("out"), "app", Log.QUIET)
                .elf();

        StringBuilder text = new StringBuilder();
        assertThat(end(board, elf, "kiln 42\n", text)).matches(end -> Ends.code(end) == 3);
        assertThat(text).contains("hello kiln, 00042 and beef\n4 corners\nhuge: refused\n125\n");
    }

    private static End end(Board board, Path elf, String input, StringBuilder text) {
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(20)).start(elf)) {
            Consumer<String> console = piece -> {
                boolean wasReady = text.indexOf("ready") >= 0;
                text.append(piece);
                if (!wasReady && text.indexOf("ready") >= 0) {
                    send(process, input);
                }
            };
            return ImageConsole.follow(process.output(), Duration.ofSeconds(20), console, said -> false);
        }
    }

    private static void send(RunningProcess process, String input) {
        try {
            process.input().write(input.getBytes(StandardCharsets.US_ASCII));
            process.input().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
