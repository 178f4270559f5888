// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelLibrary.ArchiveOrigin;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The C of an archive that somebody else made: what it tries against the computer that builds it. */
class FencedArchiveTest {
    private static final String SECRET = "canary-51be9a";
    private static final ArchiveOrigin ORIGIN = new ArchiveOrigin("net.tar", "ab".repeat(32));
    private static final String ADVICE =
            "If you trust who made net.tar: <trustArchive>sha256:" + "ab".repeat(32) + "</trustArchive>";

    private static final String UNLISTED = "the preprocessor cannot tell which files it includes";

    /** Clang does not survive it. */
    private static final String DEEP = "#if " + "(".repeat(200_000) + "1" + ")".repeat(200_000) + "\n#endif\n";

    /** For a board and for this computer; @ stands for a file, ^ for a quote inside of a string. */
    private static final List<String> READING = List.of(
            "#include \"@\"",
            "#include <@>",
            "#include \"../../../../../secret.h\"",
            "#define N \"@\"\n#include N",
            "#embed \"@\"",
            "const char a[] = {\n#embed \"@\"\n};",
            "%:include \"@\"",
            "# /*\n*/ include \"@\"",
            "#inc\\\nlude \"@\"",
            "#inc\\\rlude \"@\"",
            "#emb\\\red \"@\"",
            "#include \"/dev/zero\"",
            "#include_next <@>",
            "#inc??/\nlude \"@\"",
            "??=include \"@\"",
            "%:inc\\  \nlude \"@\"",
            "\u00ef\u00bb\u00bf#include \"@\"",
            "int a;\r#include \"@\"",
            "#import \"@\"",
            "#include \"out.h\"",
            "#if __has_include(\"@\") || __has_embed(\"@\") || __has_include(\"/etc/passwd\")\nint seen;\n#else\n#error\n#endif",
            "#pragma GCC dependency \"@\"\nint x;",
            "#pragma GCC /*\n*/ dependency \"@\"\nint x;");

    private static final List<String> OTHER = List.of(
            "void f(void) { __asm__(\".incbin ^@^\"); }",
            "__asm__(\".incbin ^@^\");",
            "void f(void) { __asm__(\".rept 1\\n.inc\\\\()bin ^@^\\n.endr\"); }",
            "__attribute__((section(\".text\\n.incbin ^@^\\n#\"))) int x;",
            "__attribute__((section(\".gnu.lto_.opts\"))) const char o[] = \"-fplugin=@\";",
            "__attribute__((section(\".init_array\"))) void* p = 0;",
            "__attribute__((section(\".preinit_array\"))) void* p = 0;",
            "__attribute__((constructor)) void f(void) {}",
            "static void* r(void) { return 0; }\nvoid f(void) __attribute__((ifunc(\"r\")));",
            "int x __asm__(\"y\\n.incbin ^@^\\n\");",
            "#pragma GCC pch_preprocess \"@\"\nint x;",
            "#pragma weak a = b\nint b;",
            "void __libc_csu_init(void) {\n#if !__linux__\n#error\n#endif\n}",
            "void __gmon_start__(void) {\n#if !__linux__\n#error\n#endif\n}",
            "#define C(a, b) a##b\n#define P(x) _Pragma(#x)\n#define Q(x) P(x)\nQ(GCC C(depend, ency) \"@\")\nint x;",
            "#define C(a, b) a##b\n#define P(x) C(_Pra, gma)(#x)\n#define Q(x) P(x)\nQ(GCC C(depend, ency) \"/none\")\nint x;",
            "#include \"bad.h\"");

    @TempDir
    private Path folder;

    @Test
    void noFileOfThisComputerGetsIntoTheObjectsForABoard() throws IOException {
        List<String> attacks = Stream.concat(READING.stream(), OTHER.stream()).toList();
        KilnException refused = refused("mps2-an386", "clang", attacks);
        assertThat(refused.problems()).hasSizeGreaterThanOrEqualTo(attacks.size());
        assertThat(refused.getMessage()).contains(ADVICE);
    }

    @Test
    void noFileOfThisComputerIsReadForAProgramOfThisComputer() throws IOException {
        KilnException refused = refused("host", "host", READING);
        assertThat(refused.problems())
                .hasSizeGreaterThanOrEqualTo(READING.size())
                .allSatisfy(problem -> assertThat(problem.where()).startsWith("codegen/host/src/default_x"));
        assertThat(refused.getMessage()).contains(ADVICE);
    }

    /** What the system's headers define, and which files exist, changes nothing in the text that is compiled. */
    @Test
    void aProgramOfThisComputerIsTheSameWhateverFilesAreOnIt() throws IOException {
        Path there = Files.writeString(folder.resolve("there.h"), "#define CANARY\n");
        String source = """
                #include <inttypes.h>
                #include <limits.h>
                #include <float.h>
                #include <math.h>
                #include <stdbool.h>
                #include <stddef.h>
                #include <stdint.h>
                #include <stdio.h>
                #include <stdlib.h>
                #include <string.h>
                #include <sys/types.h>
                #if __has_include("@") || __has_include("/etc/passwd") || __has_include(<unistd.h>) || defined(__clang__)
                #error it sees this computer
                #endif
                #if defined(_STDIO_H) || defined(__GLIBC__) || defined(_FEATURES_H)
                #error it sees the headers of this computer
                #endif
                _Static_assert(sizeof(size_t) == 8 && sizeof(intptr_t) == 8 && sizeof(long double) == __SIZEOF_LONG_DOUBLE__, "");
                _Static_assert(_Generic((int64_t)0, __INT64_TYPE__: 1, default: 0) && _Generic(INT64_C(1), int64_t: 1, default: 0), "");
                _Static_assert(_Generic((size_t)0, __SIZE_TYPE__: 1, default: 0) && sizeof(wchar_t) == sizeof(L'x'), "");
                _Static_assert(_Generic((int_fast16_t)0, __INT_FAST16_TYPE__: 1, default: 0) && INT_FAST16_MAX == __INT_FAST16_MAX__, "");
                _Static_assert(UINT64_MAX == 18446744073709551615ull && INT_MIN == -2147483647 - 1 && FLT_DIG == 6 && CHAR_BIT == 8, "");
                _Static_assert(sizeof(bool) == 1 && sizeof(ssize_t) == sizeof(size_t) && offsetof(struct { char c; int64_t n; }, n) == 8, "");
                int32_t tvmgen_default_more(char* to, double x);
                int32_t tvmgen_default_more(char* to, double x) {
                  int64_t wide = (int64_t)lround(pow(x, 2.0)) + (isnan(x) ? 1 : 0) + abs(-1);
                  memset(to, 0, 8);
                  return snprintf(to, 32, "%" PRId64 " %s", wide, strchr("ab", 'b'));
                }
                """.replace("@", there.toString());
        FirmwareRequest request = request("host", "host", foreign(List.of(source)));
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Path object = objects.files().get("codegen/host/src/default_x0.c");
        byte[] before = Files.readAllBytes(object);
        assertThat(new String(before, StandardCharsets.ISO_8859_1))
                .contains("tvmgen_default_more")
                .doesNotContain("CANARY")
                .doesNotContain(request.toolchain()
                        .driver()
                        .preprocessor()
                        .orElseThrow()
                        .home()
                        .toString());
        Files.delete(there);
        Files.delete(object);
        FirmwareProject again = FirmwareAssembler.assemble(request, Log.QUIET);
        assertThat(FirmwareCompiler.compile(again, Log.QUIET).files().get("codegen/host/src/default_x0.c"))
                .hasBinaryContent(before);
    }

    /** The user's own C has the headers of this computer, unless it also includes an untrusted one. */
    @Test
    void theUsersOwnCSeesThisComputer() throws IOException {
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(
                folder.resolve("src/main/c/own.c"),
                "#include <sys/utsname.h>\n#include <unistd.h>\nint own(void) { struct utsname n; return uname(&n); }\n");
        FirmwareRequest request = request("host", "host", foreign(List.of()));
        assertThat(FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET)
                        .files())
                .containsKey("main/own.c");
        Files.writeString(
                folder.resolve("src/main/c/own.c"),
                "#include <sys/utsname.h>\n#ifndef SOME\n#include \"tvmgen_default.h\"\n#endif\nint own(void);\n");
        assertThatThrownBy(() -> FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("'sys/utsname.h' file not found")
                .hasMessageContaining("A source that includes a file that is not trusted sees no other headers")
                .hasMessageContaining(ADVICE);
    }

    /** Clang has no answer on such a line, but GCC compiles it: nobody knows then what the source includes. */
    @Test
    void aSourceThatNobodyCanListTheFilesOfIsRefused() throws IOException {
        KilnException refused = refused("host", "host", List.of(DEEP + "#include \"@\"\nint x;"));
        assertThat(refused.problems()).hasSize(1);
        assertThat(refused.getMessage()).contains(UNLISTED).contains(ADVICE);

        Path own = Files.createDirectories(folder.resolve("src/main/c")).resolve("own.c");
        Files.writeString(own, "#include <sys/utsname.h>\n#include \"deep.h\"\nint own(void);\n");
        FirmwareRequest request = request("host", "host", foreign(List.of()));
        assertThatThrownBy(() -> FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(UNLISTED)
                .hasMessageContaining("own.c")
                .hasMessageContaining(ADVICE);
    }

    @Test
    void nothingRunsOnThisComputerBeforeTheImageIsShutIn() throws IOException {
        KilnException refused = refused("host", "host", OTHER);
        assertThat(refused.problems()).hasSizeGreaterThanOrEqualTo(OTHER.size());
    }

    @Test
    void aFunctionOfTheCLibraryKeepsItsPlace() throws IOException {
        ModelLibrary model = foreign(List.of("long write(int f, const void* p, unsigned long n) { return n; }"));
        FirmwareProject project = FirmwareAssembler.assemble(request("host", "host", model), Log.QUIET);
        CompiledObjects objects = FirmwareCompiler.compile(project, Log.QUIET);
        assertThatThrownBy(() -> FirmwareLinker.link(objects, folder.resolve("target"), "app", Log.QUIET))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("write replaces a library's")
                .hasMessageContaining(ADVICE);
        assertThat(folder.resolve("target/app.elf")).doesNotExist();
    }

    @Test
    void objectCodeAndTheGnuToolchainNeedTrust() {
        ModelLibrary plain = foreign(List.of());
        assertThatThrownBy(() -> FirmwareAssembler.assemble(request("mps2-an386", "gnu", plain), Log.QUIET))
                .hasMessageContaining("the toolchain gnu cannot compile untrusted code; expected the bundled clang")
                .hasMessageContaining(ADVICE);
        List<Artifact> files = new ArrayList<>(plain.artifacts().artifacts());
        files.add(Artifact.ofText(Artifact.FOREIGN, ArtifactKind.OBJECT, "default_lib2.o", "INPUT(/etc/passwd)"));
        ModelLibrary objects = new ModelLibrary(plain.metadata(), new ArtifactSet(files), plain.origin());
        assertThatThrownBy(() -> FirmwareAssembler.assemble(request("mps2-an386", "clang", objects), Log.QUIET))
                .hasMessageContaining("codegen/host/lib/default_lib2.o: refused")
                .hasMessageContaining("object code")
                .hasMessageContaining(ADVICE);
    }

    @Test
    void trustIsForADigestOrANameThatTheUserWrites() {
        ModelLibrary model = foreign(List.of());
        for (String trusted : List.of("sha256:" + "ab".repeat(32), "other.tar, net.tar")) {
            FirmwareRequest request = request("mps2-an386", "gnu", model, TrustedArchives.parse(trusted));
            assertThat(FirmwareAssembler.assemble(request, Log.QUIET)
                            .strangers()
                            .isEmpty())
                    .isTrue();
        }
        for (String other : List.of("sha256:" + "ac".repeat(32), "et.tar", "net", "default")) {
            FirmwareRequest request = request("mps2-an386", "clang", model, TrustedArchives.parse(other));
            assertThat(FirmwareAssembler.assemble(request, Log.QUIET)
                            .strangers()
                            .files())
                    .containsKey("codegen/host/src/default_lib1.c");
        }
        assertThatThrownBy(() -> TrustedArchives.parse("sha256:AB, ../net.tar, *, net.tar"))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems())
                                .hasSize(3)
                                .allMatch(problem -> problem.where().equals("kiln.trustArchive")));
    }

    @Test
    void theMakefileSaysWhatItDoesNot() throws IOException {
        FirmwareProject project =
                FirmwareAssembler.assemble(request("mps2-an386", "clang", foreign(List.of())), Log.QUIET);
        assertThat(project.directory().resolve("Makefile")).content().contains("make compiles the sources as they are");
        FirmwareProject own = FirmwareAssembler.assemble(
                request("mps2-an386", "clang", TestFirmware.model("default", 1000)), Log.QUIET);
        assertThat(own.directory().resolve("Makefile")).content().doesNotContain("as they are");
    }

    private KilnException refused(String board, String toolchain, List<String> attacks) throws IOException {
        Path secret = Files.writeString(folder.resolve("secret.h"), "\"" + SECRET + "\"");
        List<String> sources = attacks.stream()
                .map(attack -> attack.replace("^", "\\\"").replace("@", secret.toString()) + "\n")
                .toList();
        FirmwareRequest request = request(board, toolchain, foreign(sources));
        KilnException refused = catchThrowableOfType(
                KilnException.class,
                () -> FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET));
        for (int i = 0; i < sources.size(); i++) {
            String name = "default_x" + i + ".c";
            String header = attacks.get(i).contains("bad.h") ? "bad.h" : name;
            assertThat(refused.getMessage()).as(attacks.get(i)).containsAnyOf(name, header);
        }
        assertThat(refused.getMessage()).doesNotContain(SECRET);
        try (Stream<Path> left = Files.walk(folder.resolve("target/kiln"))) {
            for (Path file : left.filter(Files::isRegularFile).toList()) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).doesNotContain(SECRET);
                assertThat(file.getFileName().toString()).doesNotContain("default_x");
            }
        }
        return refused;
    }

    private FirmwareRequest request(String board, String toolchain, ModelLibrary model) {
        return request(board, toolchain, model, TrustedArchives.NONE);
    }

    private FirmwareRequest request(String board, String toolchain, ModelLibrary model, TrustedArchives trusted) {
        return TestFirmware.trusting(
                TestFirmware.request(TestFirmware.board(board), toolchain, Optimize.SIZE, List.of(model), folder),
                trusted);
    }

    /** The small model as if it had come in an archive, with these sources besides. */
    private static ModelLibrary foreign(List<String> sources) {
        ModelLibrary own = TestFirmware.model("default", 1000);
        List<Artifact> files = new ArrayList<>();
        for (Artifact file : own.artifacts().artifacts()) {
            files.add(Artifact.of(Artifact.FOREIGN, file.kind(), file.fileName(), file.content()));
        }
        for (int i = 0; i < sources.size(); i++) {
            files.add(Artifact.ofText(Artifact.FOREIGN, ArtifactKind.SOURCE, "default_x" + i + ".c", sources.get(i)));
        }
        files.add(Artifact.ofText(
                Artifact.FOREIGN, ArtifactKind.HEADER, "out.h", "#include \"../../../../../../secret.h\"\n"));
        files.add(Artifact.ofText(Artifact.FOREIGN, ArtifactKind.HEADER, "deep.h", DEEP));
        files.add(Artifact.ofText(
                Artifact.FOREIGN,
                ArtifactKind.HEADER,
                "bad.h",
                "__attribute__((constructor)) static void f(void) {}\n"));
        return new ModelLibrary(own.metadata(), new ArtifactSet(files), Optional.of(ORIGIN));
    }
}
