// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.Ends;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Headers of the C++ library in programs: what compiles, and that it runs without the library itself. */
final class CplusplusHeadersTest {
    private static final Path PAGE = Path.of("src/site/markdown/cplusplus.md");

    /** The table's columns behind the one of headers. */
    private enum Column {
        ARM_CLANG(1, "mps2-an386", "clang", Libc.NONE),
        ARM_CLANG_NANO(2, "mps2-an386", "clang", Libc.NANO),
        ARM_GNU_NANO(3, "mps2-an386", "gnu", Libc.NANO),
        RISCV_CLANG(4, "qemu-riscv32", "clang", Libc.NONE),
        RISCV_CLANG_NANO(5, "qemu-riscv32", "clang", Libc.NANO),
        RISCV_GNU_NANO(6, "qemu-riscv32", "gnu", Libc.NANO);

        private final int cell;
        private final String board;
        private final String toolchain;
        private final Libc libc;

        Column(int cell, String board, String toolchain, Libc libc) {
            this.cell = cell;
            this.board = board;
            this.toolchain = toolchain;
            this.libc = libc;
        }
    }

    @TempDir
    private Path folder;

    private FirmwareRequest request(Column column) {
        return request(column.board, column.toolchain, column.libc, "gnu++20");
    }

    private FirmwareRequest request(String board, String toolchain, Libc libc, String standard) {
        Board target = TestFirmware.board(board);
        TargetOptions core = TargetOptions.parse(target.target());
        ToolchainEnvironment environment = TestToolchains.environment(Log.QUIET);
        Toolchain plain = TestToolchains.resolve(toolchain, target.target());
        Toolchain complete =
                Toolchains.forCplusplus(Toolchains.with(libc, plain, core, environment), core, environment);
        FirmwareRequest request = TestFirmware.request(
                target, toolchain, Optimize.SIZE, List.of(TestFirmware.model("default", 1000)), folder);
        UserCode code = UserCode.of(
                folder.resolve("src/main/c"), new CodeFlags(List.of(), List.of("-std=" + standard), libc, false));
        return new FirmwareRequest(
                target,
                complete,
                request.optimize(),
                request.content().with(code),
                new FirmwareRequest.Folders(folder.resolve("target/firmware"), folder.resolve("target/kiln/build")),
                "test");
    }

    private static void needHeaders() {
        if (!Files.isDirectory(Path.of("/usr/include/newlib/c++")) && !"true".equals(System.getenv("CI"))) {
            Assumptions.abort("libstdc++-arm-none-eabi-dev is not installed");
        }
    }

    private String run(FirmwareRequest request, String source) throws IOException {
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(folder.resolve("src/main/c/main.cpp"), source);
        Path elf = TestFirmware.build(request, folder, Log.QUIET).elf();
        StringBuilder text = new StringBuilder();
        try (RunningProcess process =
                Emulator.of(request.board(), Duration.ofSeconds(20)).start(elf)) {
            assertThat(ImageConsole.follow(process.output(), Duration.ofSeconds(20), text::append, said -> false))
                    .as(text.toString())
                    .matches(end -> Ends.code(end) == 0);
        }
        return text.toString();
    }

    /** Nothing of this needs memory from a heap. The core has no atomic instructions for 8 bytes. */
    @ParameterizedTest
    @CsvSource({
        "mps2-an386, clang, NONE",
        "mps2-an386, gnu, NONE",
        "qemu-riscv32, clang, NONE",
        "qemu-riscv32, gnu, NANO"
    })
    void aProgramWithoutALibraryUsesTheHeaders(String board, String toolchain, Libc libc) throws IOException {
        TestPrograms.need("qemu-system-arm", "qemu-system-riscv32");
        needHeaders();
        assertThat(run(request(board, toolchain, libc, "gnu++20"), """
            #include <algorithm>
            #include <array>
            #include <atomic>
            #include <cstdint>
            #include <cstring>
            #include <functional>
            #include <limits>
            #include <math.h>
            #include <numeric>
            #include <optional>
            #include <span>
            #include <stdlib.h>
            #include <string_view>
            #include <type_traits>
            #include <utility>
            #include "kiln_console.h"
            struct Counter {
              explicit Counter(int start) : value(start) {}
              int value;
            };
            static Counter first{41};
            static int later() {
              static Counter inside{first.value + 1};
              return inside.value;
            }
            static std::atomic<std::uint64_t> wide{0xffffffffu};
            static std::optional<int> half(int of) {
              return of % 2 == 0 ? std::optional<int>(of / 2) : std::nullopt;
            }
            static int sum(std::span<const int> of) {
              return std::accumulate(of.begin(), of.end(), 0);
            }
            int main() {
              std::array<int, 5> numbers{5, 3, 1, 4, 2};
              std::sort(numbers.begin(), numbers.end(), std::greater<int>());
              wide.fetch_add(1);
              std::uint64_t expected = 0x100000000u;
              bool swapped = wide.compare_exchange_strong(expected, 7);
              std::string_view text = "kiln";
              static_assert(std::is_same_v<std::decay_t<decltype(numbers)>::value_type, int>);
              static_assert(std::numeric_limits<std::int8_t>::max() == 127);
              if (numbers[0] != 5 || numbers.at(4) != 1 || sum(numbers) != 15 || later() != 42 || *half(8) != 4 || half(7)
                  || !swapped || wide.load() != 7 || text.find("ln") != 2 || std::memcmp("a", "b", 1) >= 0 || abs(-3) != 3) {
                return 1;
              }
              kiln_console_text("headers");
              return 0;
            }
            """)).contains("headers");
    }

    @ParameterizedTest
    @CsvSource({"mps2-an386, clang", "mps2-an386, gnu", "qemu-riscv32, clang"})
    void containersTakeTheirMemoryFromTheCLibrary(String board, String toolchain) throws IOException {
        TestPrograms.need("qemu-system-arm", "qemu-system-riscv32");
        needHeaders();
        assertThat(run(request(board, toolchain, Libc.NANO, "gnu++17"), """
            #include <cstdint>
            #include <functional>
            #include <memory>
            #include <new>
            #include <vector>
            #include <stdio.h>
            struct alignas(64) Wide {
              char bytes[64];
            };
            int main() {
              std::vector<int> numbers;
              for (int i = 0; i < 100; ++i) {
                numbers.push_back(i);
              }
              std::function<int(int)> twice = [](int of) { return 2 * of; };
              auto owned = std::make_unique<Wide>();
              bool aligned = reinterpret_cast<std::uintptr_t>(owned.get()) % 64 == 0;
              volatile unsigned much = 64u << 20;
              char* volatile none = new (std::nothrow) char[much];
              bool refused = none == nullptr;
              printf("%d %d %d %d\\n", numbers.at(99), twice(21), aligned, refused);
              return 0;
            }
            """)).contains("99 42 1 1");
    }

    /** A core without any atomic instructions; its image has the operations once. */
    @Test
    void atomicsWorkOnTheSmallestCore() throws IOException {
        TestPrograms.need("qemu-system-arm");
        needHeaders();
        assertThat(run(request("microbit", "clang", Libc.NONE, "gnu++17"), """
            #include <atomic>
            #include "kiln_console.h"
            static std::atomic<int> count{1};
            static std::atomic<unsigned char> flags{0x0f};
            int main() {
              count += 2;
              flags ^= 0xff;
              int three = 3;
              if (!count.compare_exchange_strong(three, 9) || count.exchange(4) != 9 || flags.load() != 0xf0) {
                return 1;
              }
              kiln_console_text("atomic");
              return 0;
            }
            """)).contains("atomic");
    }

    /** All that the page says to compile, in one source for each column; the nightly test asks for each header alone. */
    @ParameterizedTest
    @EnumSource(Column.class)
    void whatThePageSaysCompilesTogether(Column column) throws IOException {
        needHeaders();
        List<String> headers = rows().stream()
                .filter(row -> row.get(column.cell).equals("yes"))
                .map(row -> row.get(0))
                .toList();
        assertThat(headers).hasSizeGreaterThan(50);
        Files.createDirectories(folder.resolve("src/main/c"));
        String includes =
                headers.stream().map(name -> "#include <" + name + ">\n").collect(Collectors.joining());
        Files.writeString(folder.resolve("src/main/c/main.cpp"), includes + "int main() { return 0; }\n");
        FirmwareRequest request = request(column);
        FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
    }

    private static List<List<String>> rows() throws IOException {
        List<List<String>> rows = new ArrayList<>();
        for (String line : Files.readAllLines(PAGE)) {
            if (line.startsWith("| `<")) {
                String[] cells = line.substring(2).split(" \\| ?", -1);
                List<String> row = new ArrayList<>(List.of(cells).subList(0, Column.values().length + 1));
                row.set(0, row.get(0).replaceAll("[`<>]", ""));
                rows.add(row);
            }
        }
        return rows;
    }

    @Test
    @EnabledIfSystemProperty(
            named = "kiln.large",
            matches = "all",
            disabledReason = "takes minutes: mvn verify -Pnightly")
    void everyHeaderOfThePageCompilesOrNotAsItSays() throws IOException {
        needHeaders();
        List<String> wrong = new ArrayList<>();
        for (Column column : Column.values()) {
            FirmwareRequest request = request(column);
            for (List<String> row : rows()) {
                Files.createDirectories(folder.resolve("src/main/c"));
                Files.writeString(
                        folder.resolve("src/main/c/main.cpp"),
                        "#include <" + row.get(0) + ">\nint main() { return 0; }\n");
                if (compiles(request) != row.get(column.cell).equals("yes")) {
                    wrong.add(row.get(0) + " in column " + column);
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    private boolean compiles(FirmwareRequest request) {
        try {
            FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
            return true;
        } catch (KilnException e) {
            return false;
        }
    }
}
