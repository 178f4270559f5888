// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
import io.kiln.firmware.CodeFolder.Role;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A program of C, C++, assembler and a static library, with further folders, macros and arguments, runs on every kind of board. */
class UserCodeOnBoardTest {
    private static final String MAIN = """
        #include "kiln_console.h"
        #include "reading.hpp"
        #include "tvmgen_default.h"

        extern "C" int seven(void);
        extern "C" int from_library(int x);
        int from_c(int x);

        namespace {
        class Gain final : public Reading {
         public:
          explicit Gain(int factor) : factor_(factor) { kiln_console_text("constructed\\n"); }
          ~Gain() override { kiln_console_text("destroyed\\n"); }
          int of(int x) const override { return factor_ * x; }
         private:
          int factor_;
        };
        Gain gain(SCALE);

        int once() {
          static Gain local(1);
          return local.of(2);
        }
        }  // namespace

        int main() {
          const Reading& reading = gain;
          static_assert(__cplusplus > 201703L, "kiln.compilerArgs");
          int sum = reading.of(3) + seven() + from_library(10) + offset(5) + once();
          kiln_console_text(NAME);
          return sum - EXPECTED;
        }
        """;
    private static final String READING = """
        #pragma once
        class Reading {
         public:
          virtual ~Reading() = default;
          virtual int of(int x) const = 0;
        };
        extern "C" int offset(int x);
        """;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"mps2-an386, gnu", "mps2-an386, clang", "qemu-riscv32, gnu", "qemu-riscv32, clang", "host, host"})
    void everyKindOfSourceIsInTheProgram(String id, String toolchain) throws IOException {
        Board board = TestFirmware.board(id);
        Toolchain compiler = TestToolchains.resolve(toolchain, board.target());
        write("src/main/c/main.cpp", MAIN);
        write("src/main/c/include/reading.hpp", READING);
        write("drivers/offset.c", "#include \"by.h\"\nint offset(int x);\nint offset(int x) { return x + BY; }\n");
        write("vendor/inc/by.h", "#define BY 100\n");
        write("src/main/c/seven.S", assembler(id));
        write("library.c", "int from_library(int x);\nint from_library(int x) { return 2 * x; }\n");
        archive(id, compiler);
        // 4 * 3 + 7 + 2 * 10 + 5 + 100 + 2
        UserCode code = UserCode.of(
                        folder.resolve("src/main/c"),
                        new CodeFlags(
                                List.of("SCALE=4", "EXPECTED=146", "NAME=\"it's me\\n\""),
                                List.of("-std=c++20", "-std=c11"),
                                Libc.NONE,
                                false))
                .with(folder, folder.resolve("drivers"), Role.SOURCES)
                .with(folder, folder.resolve("vendor/inc"), Role.HEADERS);
        FirmwareRequest plain = TestFirmware.request(
                board, toolchain, Optimize.SIZE, List.of(TestFirmware.model("default", 100)), folder);
        FirmwareRequest request = plain.with(plain.content().with(code));

        FirmwareProject project = FirmwareAssembler.assemble(request, Log.QUIET);
        CompiledObjects objects = FirmwareCompiler.compile(project, Log.QUIET);
        Path elf = FirmwareLinker.link(objects, folder.resolve("out"), "app", Log.QUIET)
                .elf();

        StringBuilder text = new StringBuilder();
        assertThat(end(board, elf, text))
                .matches(end -> board.isHost() ? end instanceof End.Closed : Ends.code(end) == 0);
        assertThat(text).contains("constructed\nconstructed\nit's me\n");
        // An image ends with its power; a program of this computer ends as the C library does it.
        assertThat(text.toString().contains("destroyed")).isEqualTo(board.isHost());
        String bytes = new String(Files.readAllBytes(elf), StandardCharsets.ISO_8859_1);
        assertThat(bytes.contains("src/main/c/main.cpp")).isTrue();
        assertThat(bytes.contains("drivers/offset.c")).isTrue();
        assertThat(bytes.contains(folder.toString())).isFalse();
    }

    /** microTVM's classes, of which the runtime has the parts that they need. */
    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void aProgramSendsAndReceivesFrames(String toolchain) throws IOException {
        Board board = TestFirmware.board("mps2-an386");
        write("src/main/c/main.cpp", """
                #include <tvm/runtime/crt/rpc_common/session.h>
                #include "kiln_console.h"
                using namespace tvm::runtime::micro_rpc;
                namespace {
                class Loop final : public WriteStream {
                 public:
                  Unframer* back = nullptr;
                  ssize_t Write(const uint8_t* data, size_t size) override {
                    size_t used = 0;
                    return back->Write(data, size, &used) == kTvmErrorNoError ? static_cast<ssize_t>(used) : -1;
                  }
                  void PacketDone(bool) override {}
                };
                void Heard(void*, MessageType type, FrameBuffer* buf) {
                  uint8_t byte = 0;
                  while (type == MessageType::kLog && buf->Read(&byte, 1) == 1) {
                    kiln_console_put(byte);
                  }
                }
                uint8_t memory[64];
                FrameBuffer buffer(memory, sizeof memory);
                Loop loop;
                Framer framer(&loop);
                Session session(&framer, &buffer, Heard, nullptr);
                Unframer unframer(session.Receiver());
                }  // namespace
                int main() {
                  loop.back = &unframer;
                  return session.SendMessage(MessageType::kLog, reinterpret_cast<const uint8_t*>("framed\\n"), 7);
                }
                """);
        FirmwareRequest request = TestFirmware.request(
                board, toolchain, Optimize.SIZE, List.of(TestFirmware.model("default", 100)), folder);
        StringBuilder text = new StringBuilder();
        Path elf = TestFirmware.build(request, folder, Log.QUIET).elf();
        assertThat(Ends.code(end(board, elf, text))).isZero();
        assertThat(text).contains("framed\n");
    }

    private static End end(Board board, Path elf, StringBuilder text) {
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(20)).start(elf)) {
            return ImageConsole.follow(process.output(), Duration.ofSeconds(20), text::append, said -> false);
        }
    }

    private static String assembler(String board) {
        return switch (board) {
            case "host" -> "  .globl seven\nseven:\n  mov $7, %eax\n  ret\n  .section .note.GNU-stack,\"\"\n";
            case "qemu-riscv32" -> "  .globl seven\nseven:\n  li a0, 7\n  ret\n";
            default -> """
                  .syntax unified
                  .thumb
                  .globl seven
                  .type seven, %function
                seven:
                  movs r0, #7
                  bx lr
                """;
        };
    }

    /** A static library as another build leaves it. */
    private void archive(String board, Toolchain compiler) {
        String ar = switch (board) {
            case "host" -> "ar";
            case "qemu-riscv32" -> "riscv64-unknown-elf-ar";
            default -> "arm-none-eabi-ar";
        };
        List<String> line = new ArrayList<>(List.of(compiler.compiler()));
        line.addAll(compiler.compileFlags(SourceKind.USER, Optimize.SIZE));
        line.addAll(List.of("-g0", "-c", "library.c", "-o", "library.o"));
        run(Command.ofLine(line));
        run(Command.of(ar, "rcs", "src/main/c/libtwice.a", "library.o"));
    }

    private void run(Command command) {
        ProcessResult result = ProcessRunner.run(command.in(folder).within(Duration.ofSeconds(60)));
        assertThat(result.succeeded()).as(result.message()).isTrue();
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
