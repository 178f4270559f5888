// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Log;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.Ends;
import io.kiln.docs.DocBlock;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models as a static library for builds that Kiln does not know: a makefile of a vendor's tool, and CMake. */
final class StaticLibraryTest {
    private static final Path CUBE = Path.of("src/test/resources/hal/cube").toAbsolutePath();

    @TempDir
    private Path folder;

    private CompiledObjects objects(String board, String toolchain) {
        FirmwareRequest request = TestFirmware.request(board, toolchain, folder);
        return FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
    }

    private static ProcessResult run(Path in, List<String> line) {
        ProcessResult result = ProcessRunner.run(Command.ofLine(line).in(in).within(Duration.ofMinutes(1)));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return result;
    }

    /** The flags are those of CubeMX's makefiles; compiler and linker are GNU's, the library is clang's. */
    @Test
    void aCubeShapedBuildLinksTheLibraryAndRunsIt() throws IOException {
        TestPrograms.need("qemu-system-arm");
        TestPrograms.need("arm-none-eabi-gcc");
        CompiledObjects objects = objects("mps2-an386", "clang");
        Path library = folder.resolve("library");
        String said = new StaticLibrary(objects, "default", "1").write(library);
        assertThat(said).contains("libdefault.a: ", "it needs ").doesNotContain("kiln_", "TVM");
        assertThat(library.resolve("default.cmake")).content().contains("-mcpu=cortex-m4");
        assertThat(library.resolve("README.md")).content().contains("-mfloat-abi=hard", "board `mps2-an386`");
        assertThat(library.resolve("include/tvmgen_default.h")).exists();
        assertThat(library.resolve("include/tvm/runtime/c_runtime_api.h")).exists();
        String board = objects.project().directory().resolve("board").toString();
        List<String> line = new ArrayList<>(List.of("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"));
        line.addAll(List.of("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-Os", "-specs=nano.specs", "-specs=nosys.specs"));
        line.addAll(List.of("-I" + CUBE, "-Iinclude", "-I" + board, "-T" + CUBE.resolve("MPS2_FLASH.ld")));
        for (String source :
                List.of("startup_mps2.s", "system_mps2.c", "mps2_hal.c", "mps2_it.c", "main.c", "console.c")) {
            line.add(CUBE.resolve(source).toString());
        }
        line.addAll(List.of(board + "/exit.c", "-L.", "-ldefault", "-Wl,--gc-sections", "-o", "app.elf"));
        run(library, line);
        StringBuilder text = new StringBuilder();
        try (RunningProcess process = Emulator.of(TestFirmware.board("mps2-an386"), Duration.ofSeconds(20))
                .start(library.resolve("app.elf"))) {
            assertThat(ImageConsole.follow(process.output(), Duration.ofSeconds(20), text::append, each -> false))
                    .as(text.toString())
                    .matches(end -> Ends.code(end) == 0);
        }
        assertThat(text).contains("beside the HAL");
    }

    /** The table of vectors lies in RAM, the library is for the chip's core, and an M3 in QEMU runs its instructions. */
    @Test
    void aPicoShapedBuildOfCmakeLinksTheLibraryAndRunsIt() throws IOException {
        TestPrograms.need("qemu-system-arm", "arm-none-eabi-gcc", "cmake");
        Path library = folder.resolve("library");
        new StaticLibrary(objects("raspberry-pi-pico", "clang"), "default", "1").write(library);
        Path project = CUBE.resolveSibling("pico");
        List<String> configure = new ArrayList<>(List.of("cmake", "-S", project.toString(), "-B", "build"));
        configure.addAll(List.of("-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc"));
        configure.addAll(List.of("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", "-DKILN_LIBRARY=" + library));
        run(folder, configure);
        run(folder, List.of("cmake", "--build", "build"));
        List<String> emulator = new ArrayList<>(List.of("qemu-system-arm", "-M", "mps2-an385", "-display", "none"));
        emulator.addAll(List.of("-monitor", "none", "-serial", "none", "-kernel", "build/app"));
        emulator.addAll(List.of("-semihosting-config", "enable=on,target=native"));
        assertThat(run(folder, emulator).message()).contains("beside the SDK");
    }

    /** The page's lines. A script takes Maven's place: it writes its arguments down, and the library that Kiln has made. */
    @Test
    void aProjectOfCmakeMakesTheLibraryAndLinksIt() throws IOException {
        TestPrograms.need("cmake");
        Path library = folder.resolve("library");
        CompiledObjects objects = objects("host", "host");
        new StaticLibrary(objects, "kws", "9.9").write(library);
        new StaticLibrary(objects, "made", "9.9").write(folder.resolve("made"));
        Path project = Files.createDirectories(folder.resolve("project/cmake")).getParent();
        Files.copy(library.resolve("FindKiln.cmake"), project.resolve("cmake/FindKiln.cmake"));
        Path maven = folder.resolve("mvn");
        Files.writeString(maven, """
            #!/bin/sh
            printf '%s\\n' "$@" > FOLDER/calls
            for each in "$@"; do case $each in -Dkiln.outputDirectory=*) out=${each#*=};; esac; done
            mkdir -p "$out" && cp -R FOLDER/library "$out"
            """.replace("FOLDER", folder.toString()));
        assertThat(maven.toFile().setExecutable(true)).isTrue();
        Files.writeString(project.resolve("kws.tflite"), "a model");
        Files.writeString(project.resolve("main.c"), """
            #include "tvmgen_default.h"
            int main(void) {
              int8_t x[16] = {1, 27};
              int8_t y[16] = {0};
              struct tvmgen_default_inputs inputs = {x};
              struct tvmgen_default_outputs outputs = {y};
              return tvmgen_default_run(&inputs, &outputs) != 0 || y[1] != 28;
            }
            """);
        Files.writeString(project.resolve("CMakeLists.txt"), """
            cmake_minimum_required(VERSION 3.16)
            project(app C)
            add_executable(app main.c)
            PAGE
            include(MADE/made.cmake)
            add_executable(other main.c)
            target_link_libraries(other PRIVATE kiln::made)
            """.replace("PAGE", page())
                .replace("MADE", folder.resolve("made").toString()));
        run(project, List.of("cmake", "-S", ".", "-B", "build", "-DKILN_MAVEN=" + maven));
        run(project, List.of("cmake", "--build", "build"));
        run(project, List.of("build/app"));
        run(project, List.of("build/other"));
        assertThat(Files.readAllLines(folder.resolve("calls")))
                .contains(
                        "io.kiln:kiln-maven-plugin:9.9:build",
                        "-Dkiln.model=" + project.toRealPath().resolve("kws.tflite"),
                        "-Dkiln.board=nucleo-f446re",
                        "-Dkiln.firmware=library",
                        "-Dkiln.verify.on=none",
                        "-Dkiln.optimize=size");
        Files.delete(folder.resolve("calls"));
        run(project, List.of("cmake", "--build", "build"));
        assertThat(folder.resolve("calls")).as("nothing has changed").doesNotExist();
    }

    /** The lines of beside-a-hal.md, with a parameter more. */
    private static String page() {
        List<DocBlock> blocks = DocBlock.of("cmake");
        assertThat(blocks).singleElement().extracting(DocBlock::page).isEqualTo("beside-a-hal.md");
        String board = "BOARD nucleo-f446re";
        assertThat(blocks.get(0).text()).contains(board + ")");
        return blocks.get(0).text().replace(board + ")", board + " OPTIONS -Dkiln.optimize=size)");
    }

    @Test
    void equalObjectsGiveEqualLibrariesAndAProgramGivesNone() throws IOException {
        CompiledObjects objects = objects("mps2-an385", "clang");
        new StaticLibrary(objects, "a", "1").write(folder.resolve("one"));
        new StaticLibrary(objects, "a", "1").write(folder.resolve("two"));
        assertThat(folder.resolve("one/liba.a")).hasSameBinaryContentAs(folder.resolve("two/liba.a"));
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(folder.resolve("src/main/c/main.c"), "int main(void) { return 0; }\n");
        assertThatThrownBy(
                        () -> new StaticLibrary(objects("mps2-an385", "clang"), "a", "1").write(folder.resolve("one")))
                .hasMessageContaining("a library has no main");
    }
}
