// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A board of a stranger: what it tries against the computer that builds it, and what it may do. */
class FenceTest {
    private static final String SECRET = "canary-7d1f0c";

    @TempDir
    private Path folder;

    /** Sources that try to get a file into their object; @ stands for its path, ^ for a quote inside of a string. */
    private static List<String> attacks() {
        return Stream.of(attacksOfAssembler(), attacksOfPreprocessor(), attacksOfNames())
                .flatMap(List::stream)
                .toList();
    }

    private static List<String> attacksOfAssembler() {
        return List.of(
                "asm(\".incbin ^@^\");",
                "void f(void) { asm(\".incbin ^@^\"); }",
                "void f(void) { asm(\"nop\\n\\t.incbin ^@^\"); }",
                "void f(void) { asm(\".inc\" \"bin ^@^\"); }",
                "void f(void) { asm(\"\\x2e\\x69ncbin ^@^\"); }",
                "void f(void) { asm(\".rept 1\\n.inc\\\\()bin ^@^\\n.endr\"); }",
                "void f(void) { asm(\".macro m a b\\n.\\\\a\\\\b ^@^\\n.endm\\nm inc bin\"); }",
                "void f(void) { asm(\".irp a, inc\\n.\\\\a\\\\()bin ^@^\\n.endr\"); }",
                "void f(void) { asm(\".include ^@^\"); }",
                "extern const char bin; void f(void) { asm(\".inc%c0 ^@^\" : : \"i\"(&bin)); }",
                "#define S(x) #x\nvoid f(void) { asm(\".\" S(inc) S(bin) \" ^@^\"); }",
                "#define J(a, b) a##b\n#define S(x) #x\n#define T(x) S(x)\nvoid f(void) { asm(T(.J(inc, bin)) \" ^@^\"); }",
                "#line 1 \"inc\"\nvoid f(void) { asm(\".\" __FILE__ \"bin ^@^\"); }",
                "#define asm_ as##m\n#define X __a##sm__\nvoid f(void) { X(\".incbin ^@^\"); }",
                "void f(void) { register int a asm(\"r0\\n.incbin \\\"@\\\"\"); asm(\"\" : : \"r\"(a)); }",
                "void f(void) { asm(\"nop\" : : : \"r0\\n.incbin ^@^\"); }",
                "#define Q R\"x(\nvoid f(void) { asm(R\"x(.incbin \"@\")x\"); }",
                "void f(void) { __asm { nop } }");
    }

    private static List<String> attacksOfPreprocessor() {
        return List.of(
                "#define P(x) _Pragma(#x)\nP(GCC dependency \"@\")\nint x asm(\"a\");",
                "const char a[] = {\n#embed \"@\"\n};",
                "const char a[] = {\n#emb\\\red \"@\"\n};",
                "const char a[] = {\n#embed \"/dev/zero\" limit(9)\n};",
                "const char a[] = {\n%:embed \"@\"\n};",
                "const char a[] = {\n??=embed \"@\"\n};",
                "#include \"@\"",
                "#include <@>",
                "#inc\\\nlude \"@\"",
                "#inc\\\rlude \"@\"",
                "#inc\\ \nlude \"@\"",
                "#/**/include \"@\"",
                "%:include \"@\"",
                "??=include \"@\"",
                "#inc??/\nlude \"@\"",
                "#define N \"@\"\n#include N",
                "#include_next \"@\"",
                "#import \"@\"",
                "#include \"../../../secret.h\"",
                "#include \"../../../../../../../../../../..@\"",
                "#pragma clang module build x\nmodule x { header \"@\" }\n#pragma clang module endbuild\n#pragma clang module import x",
                "#pragma clang module load x",
                "#pragma GCC dependency \"@\"\nint x asm(\"a\");",
                "#if __has_include(\"@\")\nint a;\n#else\nint x asm(\"a\");\n#endif",
                "#if __has_embed(\"@\")\nint a;\n#else\nint x asm(\"a\");\n#endif",
                "#if __has_include(\"/dev/null\")\nint a;\n#else\nint x asm(\"a\");\n#endif",
                "#if __has_include(\"../../kiln/build/objects/board/extra.c.s\")\nint a;\n#else\nint x asm(\"a\");\n#endif");
    }

    private static List<String> attacksOfNames() {
        return List.of(
                "_Static_assert(sizeof(__TIME__ __DATE__ __TIMESTAMP__) == 1, \"\");",
                "int a[__TIME__[0] == '0' && __TIME__[7] == '0' && __TIMESTAMP__[11] == '0' && __DATE__[7] == '1' ? -1"
                        + " : 1]; ",
                "__attribute__((section(\".gnu.lto_.opts\"))) const char a[] = \"-fplugin=@\";",
                "__attribute__((section(\".deplibs\"))) const char a[] = \"@\";",
                "__attribute__((section(\".text\\n.incbin \\\"@\\\"\\n\"))) int a;",
                "int a asm(\"x\\n.incbin \\\"@\\\"\\n\");",
                "#ident \"x\"",
                "#pragma redefine_extname printf system",
                "#pragma comment(lib, \"@\")",
                "[[gnu::constructor]] void f(void) {}",
                "__attribute__((constructor)) void f(void) {}",
                "#include \"deep.h\"",
                "#include \"data.inc\"");
    }

    /** Clang writes the source and a script for a report of its crash, unless it is told not to. */
    @Test
    void aCompilerThatIsMadeToCrashLeavesNothing() throws IOException {
        String name = "crash" + System.nanoTime();
        Map<String, String> files = new LinkedHashMap<>();
        files.put(name + ".c", "#pragma clang __debug crash\n");
        files.put("board.yaml", descriptor(List.of(name + ".c")));
        FirmwareProject project = project(board(files), "clang", folder);
        assertThatThrownBy(() -> FirmwareCompiler.compile(project, Log.QUIET)).isInstanceOf(KilnException.class);
        try (Stream<Path> left = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            assertThat(left.map(path -> path.getFileName().toString())).noneMatch(file -> file.startsWith(name));
        }
    }

    @Test
    void noFileOfThisComputerGetsIntoAnObject() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret.h"), "\"" + SECRET + "\"");
        Map<String, String> files = new LinkedHashMap<>();
        List<String> names = new ArrayList<>();
        for (String attack : attacks()) {
            names.add("extra" + names.size() + ".c");
            files.put(names.get(names.size() - 1), attack.replace("^", "\\\"").replace("@", secret.toString()));
        }
        files.put("deep.h", "#include \"" + secret + "\"\n");
        files.put("data.inc", "void f(void) { asm(\".incbin \\\"" + secret + "\\\"\"); }\n");
        files.put("board.yaml", descriptor(names));
        FirmwareProject project = project(board(files), "clang", folder);
        Files.writeString(project.directory().resolve("board/secret.bin"), SECRET);

        KilnException refused =
                catchThrowableOfType(KilnException.class, () -> FirmwareCompiler.compile(project, Log.QUIET));
        for (int i = 0; i < names.size(); i++) {
            String name = "board/" + names.get(i);
            assertThat(refused.problems())
                    .as(attacks().get(i))
                    .anyMatch(problem -> (problem.where() + ":").startsWith(name + ":")
                            || problem.where().startsWith("board/data.inc")
                            || problem.text().contains(name));
        }
        assertThat(refused.problems().stream().filter(FenceTest::isOfTheFence))
                .isNotEmpty()
                .allSatisfy(problem ->
                        assertThat(problem.next()).isEqualTo(project.board().trustAdvice()));
        assertThat(refused.getMessage()).doesNotContain(SECRET);
        try (Stream<Path> left = Files.walk(folder.resolve("target/kiln"))) {
            for (Path file : left.filter(Files::isRegularFile).toList()) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).doesNotContain(SECRET);
                assertThat(file.getFileName().toString()).doesNotMatch("extra.*");
            }
        }
    }

    private static boolean isOfTheFence(Problem problem) {
        return problem.what().startsWith("refused in code that is not trusted");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nucleo-f446re", "hifive1-revb"})
    void aBuiltInBoardThatSomebodyElsePublishesMakesTheSameImage(String id) throws IOException {
        Board own = Boards.builtIn().find(id);
        Map<String, String> files = new TreeMap<>();
        own.files().forEach((name, content) -> {
            if (!name.endsWith(".md")) {
                files.put(name, content.text());
            }
        });
        files.put("board.yaml", "schema: 1\nid: evil\nextends: " + id + "\n");
        Path here = folder.resolve("own");
        FirmwareRequest request =
                TestFirmware.request(own, "clang", Optimize.SIZE, List.of(TestFirmware.model("default", 1000)), here);
        Image expected = TestFirmware.build(request, here, Log.QUIET);

        Path there = folder.resolve("there");
        FirmwareProject project = project(board(files), "clang", there);
        assertThat(project.strangers().files()).containsKeys("board/startup.c", "board/kiln_console.h", "board/exit.c");
        CompiledObjects objects = FirmwareCompiler.compile(project, Log.QUIET);
        Image image = FirmwareLinker.link(objects, there.resolve("target"), "app", Log.QUIET);
        assertThat(Files.readAllBytes(image.bin().orElseThrow()))
                .isEqualTo(Files.readAllBytes(expected.bin().orElseThrow()));
        assertThat(Files.readString(image.elf(), StandardCharsets.ISO_8859_1)).contains("board/startup.c");

        assertThat(FirmwareCompiler.compile(project, Log.QUIET).rebuilt()).isEmpty();
        Path header = project.directory().resolve("board/kiln_console.h");
        Files.writeString(header, Files.readString(header) + "\n#define EXTRA 1\n");
        List<String> rebuilt = FirmwareCompiler.compile(project, Log.QUIET).rebuilt();
        assertThat(rebuilt).contains("board/console.c", "app/main.c").doesNotContain("codegen/host/src/default_lib1.c");
    }

    @Test
    void whatReadsNothingOfAStrangersIsCompiledAsItIs() throws IOException {
        Map<String, String> files =
                Map.of("board.yaml", "schema: 1\nid: evil\nextends: raspberry-pi-pico\n", "notes.md", "Notes\n");
        FirmwareProject project = project(board(files), "clang", folder);
        CompiledObjects objects = FirmwareCompiler.compile(project, Log.QUIET);
        assertThat(objects.files()).containsKey("board/boot2.S");
        assertThat(objects.rebuilt()).hasSameSizeAs(objects.files().keySet());
    }

    @Test
    void theGnuToolchainNeedsTrust() throws IOException {
        Board board = board(Map.of("board.yaml", "schema: 1\nid: evil\nextends: nucleo-f446re\n"));
        assertThatThrownBy(() -> project(board, "gnu", folder))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the toolchain gnu cannot compile untrusted code")
                .hasMessageContaining("the bundled clang")
                .hasMessageContaining(board.trustAdvice());
    }

    @Test
    void assemblerSourcesThatReadAStrangersHeaderNeedTrust() throws IOException {
        Board board = board(Map.of(
                "board.yaml", "schema: 1\nid: evil\nextends: nucleo-f446re\n", "mine.h", "#define MINE .incbin\n"));
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(folder.resolve("src/main/c/own.S"), "#include \"mine.h\"\n  nop\n");
        Files.writeString(folder.resolve("src/main/c/plain.s"), "  nop\n");
        FirmwareProject project = project(board, "clang", folder);
        assertThatThrownBy(() -> FirmwareCompiler.compile(project, Log.QUIET))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("main/own.S: refused in code that is not trusted: an assembler source")
                .hasMessageNotContaining("plain.s");
    }

    @Test
    void aBuildThatWasRefusedLeavesNothingThatTheNextOneTakes() throws IOException {
        Map<String, String> files = new TreeMap<>(Map.of("extra.c", "int x asm(\"y\");\n"));
        files.put("board.yaml", descriptor(List.of("extra.c")));
        FirmwareProject project = project(board(files), "clang", folder);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> FirmwareCompiler.compile(project, Log.QUIET))
                    .hasMessageContaining("board/extra.c:1: refused in code that is not trusted: the symbol name y");
        }
        Set<String> left;
        try (Stream<Path> walk = Files.walk(folder.resolve("target/kiln/build/objects/board"))) {
            left = walk.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
        }
        assertThat(left).noneMatch(name -> name.startsWith("extra"));
    }

    private static String descriptor(List<String> more) {
        return String.format(Locale.ROOT, """
            schema: 1
            id: evil
            extends: nucleo-f446re
            sources: [startup.c, fault.c, exit.c, console.c, clock.c, %s]
            """, String.join(", ", more));
    }

    private Board board(Map<String, String> files) throws IOException {
        Path zip = folder.resolve("boards.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                out.putNextEntry(new ZipEntry("evil/" + file.getKey()));
                out.write(file.getValue().getBytes(StandardCharsets.UTF_8));
                out.closeEntry();
            }
        }
        return Boards.builtIn().with(zip, "com.acme:boards:1", Set.of()).find("evil");
    }

    private static FirmwareProject project(Board board, String toolchain, Path folder) {
        FirmwareRequest request = TestFirmware.request(
                board, toolchain, Optimize.SIZE, List.of(TestFirmware.model("default", 1000)), folder);
        return FirmwareAssembler.assemble(request, Log.QUIET);
    }
}
