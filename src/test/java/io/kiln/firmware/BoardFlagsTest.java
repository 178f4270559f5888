// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoardFlagsTest {
    private static final long STACK = 0x2000;

    /** Below the stack, see sections.ld. */
    private static final long GUARD = 32;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void flagsReachCompilerLinkerMakefileAndStandIn(String toolchain) throws IOException {
        Path own = Files.createDirectories(folder.resolve("boards/mine/part"));
        Files.writeString(own.resolve("part.h"), "#define PART (ANSWER + 1)\n");
        Files.writeString(own.resolveSibling("extra.c"), "#include \"part.h\"\nint kiln_extra[PART];\n");
        Files.writeString(own.resolveSibling("board.yaml"), """
                schema: 1
                id: mine
                extends: nucleo-f446re
                sources: [startup.c, fault.c, exit.c, console.c, clock.c, extra.c]
                flags: {defines: {ANSWER: 41}, compile: [-Ipart, -Wno-unused-variable], symbols: {__stack_size: 8K}}
                """);
        Board board = Boards.builtIn().with(folder.resolve("boards")).find("mine");
        FirmwareRequest request = TestFirmware.request(
                board, toolchain, Optimize.SIZE, List.of(TestFirmware.model("default", 1000)), folder);

        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Image image = FirmwareLinker.link(objects, folder.resolve("target"), "app", Log.QUIET);
        assertThat(image.measurement().ram().stack()).isEqualTo(STACK + GUARD);
        assertThat(Files.readString(folder.resolve("target/firmware/Makefile")))
                .contains("-DANSWER=41 -Iboard/part -Wno-unused-variable", "-Wl,--defsym=__stack_size=0x2000");
        assertThat(Files.readString(folder.resolve("target/kiln/build/compile.log")))
                .contains("-DANSWER=41 -Iboard/part -Wno-unused-variable");

        Path place = folder.resolve("target/kiln/stand-in");
        FirmwareProject second =
                FirmwareAssembler.assemble(request.on(TestFirmware.board("mps2-an386"), place), Log.QUIET);
        CompiledObjects shared = FirmwareCompiler.compileStandIn(second, objects, Log.QUIET);
        assertThat(FirmwareLinker.link(shared, place, "app", Log.QUIET)
                        .measurement()
                        .ram()
                        .stack())
                .isEqualTo(STACK + GUARD);
    }
}
