// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Ways to hide a directive that a look at the source does not find. */
class ForeignAssemblyTest {
    private static final String OPERANDS = """
            extern const char bin;
            __attribute__((used)) static void f(void) {
              __asm__(".inc%c0 \\"board.secret\\"" : : "i"(&bin));
            }
            """;
    private static final String STRINGS = "#define S(x) #x\n__asm__(\".\" S(inc) S(bin) \" \\\"board.secret\\\"\");\n";
    private static final String LINE = "#line 1 \"inc\"\n__asm__(\".\" __FILE__ \"bin \\\"board.secret\\\"\");\n";

    @TempDir
    private Path folder;

    static Stream<Arguments> hidden() {
        return Stream.of(OPERANDS, STRINGS, LINE)
                .flatMap(source -> Stream.of("clang", "gnu").map(toolchain -> Arguments.of(source, toolchain)));
    }

    @ParameterizedTest
    @MethodSource("hidden")
    void aHiddenDirectiveIsFoundInWhatTheAssemblerWouldGet(String source, String toolchain) throws IOException {
        FirmwareProject project = project(with(source), toolchain);
        SourceUnit unit = new SourceUnit("board/extra.c", SourceKind.FREESTANDING);
        assertThat(project.units()).contains(unit);
        assertThatThrownBy(() -> new ForeignAssembly(project, unit).check(folder.resolve("extra.s")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("board/extra.c")
                .hasMessageContaining("the assembler directive .incbin")
                .hasMessageContaining("<trustBoard>evil</trustBoard>");
    }

    @Test
    void nothingIsCompiledFromWhatIsRefused() throws IOException {
        FirmwareProject project = project(with(STRINGS), "gnu");
        assertThatThrownBy(() -> FirmwareCompiler.compile(project, Log.QUIET))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the assembler directive .incbin");
        try (Stream<Path> left = Files.walk(folder.resolve("target/kiln/build"))) {
            assertThat(left.map(path -> path.getFileName().toString())).doesNotContain("extra.c.o");
        }
    }

    @Test
    void aFileThatIsNeitherTheProjectsNorAHeaderIsRefused() throws IOException {
        FirmwareProject project = project(with("int x;\n"), "gnu");
        SourceUnit unit = new SourceUnit("board/extra.c", SourceKind.FREESTANDING);
        ForeignAssembly assembly = new ForeignAssembly(project, unit);
        assembly.checkIncluded(List.of("board/extra.c", "/usr/include/stdint.h"));
        assertThatThrownBy(() -> assembly.checkIncluded(List.of("board/extra.c", "../../etc/passwd")))
                .hasMessageContaining("reading ../../etc/passwd");
        assertThatThrownBy(() -> assembly.checkIncluded(List.of("/etc/passwd")))
                .hasMessageContaining("reading /etc/passwd");
    }

    @Test
    void aHarmlessBoardOfSomebodyElseIsBuilt() throws IOException {
        FirmwareProject project = project(
                Map.of("board.yaml", "schema: 1\nid: evil\nextends: raspberry-pi-pico\n", "notes.md", "Notes\n"),
                "gnu");
        CompiledObjects objects = FirmwareCompiler.compile(project, Log.QUIET);
        assertThat(objects.files()).containsKey("board/boot2.S");
        assertThat(objects.rebuilt()).hasSameSizeAs(objects.files().keySet());
    }

    private static Map<String, String> with(String source) {
        return Map.of("extra.c", source, "board.yaml", """
                schema: 1
                id: evil
                extends: nucleo-f446re
                sources: [startup.c, fault.c, exit.c, console.c, clock.c, extra.c]
                """);
    }

    private FirmwareProject project(Map<String, String> files, String toolchain) throws IOException {
        Path zip = folder.resolve("boards.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                out.putNextEntry(new ZipEntry("evil/" + file.getKey()));
                out.write(file.getValue().getBytes(StandardCharsets.UTF_8));
                out.closeEntry();
            }
        }
        Board board = Boards.builtIn().with(zip, "com.acme:boards:1", Set.of()).find("evil");
        FirmwareRequest request = TestFirmware.request(
                board, toolchain, Optimize.SIZE, List.of(TestFirmware.model("default", 1000)), folder);
        FirmwareProject project = FirmwareAssembler.assemble(request, Log.QUIET);
        Files.writeString(folder.resolve("target/firmware/board.secret"), "secret");
        return project;
    }
}
