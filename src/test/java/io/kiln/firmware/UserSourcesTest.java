// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.firmware.CodeLibrary.UserSources;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserSourcesTest {
    private static final List<String> REFUSED = List.of(
            "main.C",
            "main.ii",
            "boot.asm",
            "lib/libdsp.so",
            "b.o",
            "d.rs",
            "image.ld",
            "noend",
            "c",
            "data.bin",
            "Makefile",
            "CMakeLists.txt",
            "old.c.zip",
            "main.c.save");

    @TempDir
    Path folder;

    private Path sources;

    @BeforeEach
    void setUp() throws IOException {
        sources = Files.createDirectories(folder.resolve("src/main/c"));
    }

    @Test
    void everyFileThatWouldBeLeftOutIsRefusedByNameAtOnce() throws IOException {
        for (String name : REFUSED) {
            write(name, "int main(void) { return 0; }\n");
        }
        write("ok.c", "#include \"x.h\"\n");

        assertThatThrownBy(this::read)
                .asInstanceOf(type(KilnException.class))
                .extracting(KilnException::problems)
                .satisfies(problems -> assertThat(problems)
                        .extracting(Problem::where)
                        .containsExactlyInAnyOrderElementsOf(REFUSED.stream()
                                .map(name -> sources.resolve(name).toString())
                                .toList()));
    }

    @Test
    void sourcesHeadersPapersAndLeftoversAreUnderstood() throws IOException {
        List<String> kept = List.of(
                "a.c",
                "b.S",
                "deep/down/c.s",
                "d.h",
                "e.inc",
                "f.def",
                "README",
                "README.md",
                "notes.txt",
                "LICENSE",
                "g.cpp",
                "h.cc",
                "i.cxx",
                "j.hpp",
                "k.hh",
                "lib/libdsp.a");
        List<String> ignored = List.of(
                ".DS_Store", ".clang-format", ".git/x.cpp", "a.c~", ".a.c.swp", "#a.c#", "a.c.orig", "Thumbs.db");
        for (String name : kept) {
            write(name, "\n");
        }
        for (String name : ignored) {
            write(name, "\n");
        }

        assertThat(read()).containsExactlyInAnyOrderElementsOf(kept);
    }

    @Test
    void whatASourceReadsIsUnderstood() throws IOException {
        write("a.c", "#include \"parts/table.dat\"\n/* #include \"no.dat\" */\n# include <more.tbl>\n");
        write("b.S", "  .incbin \"blob.bin\"\n");
        write("parts/table.dat", "1, 2");
        write("more.tbl", "1, 2");
        write("blob.bin", "12");
        assertThat(read()).contains("parts/table.dat", "more.tbl", "blob.bin");

        write("no.dat", "1");
        assertThatThrownBy(this::read)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("no.dat: this file is not compiled, and no source includes it");
    }

    @Test
    void linksAreFollowedAndThoseThatLeadNowhereRefused() throws IOException {
        Path shared = Files.createDirectories(folder.resolve("shared"));
        Files.writeString(shared.resolve("s.c"), "int s;\n");
        Files.createSymbolicLink(sources.resolve("shared"), shared);
        Files.createSymbolicLink(sources.resolve("one.c"), shared.resolve("s.c"));
        assertThat(read()).containsExactlyInAnyOrder("shared/s.c", "one.c");

        Files.createSymbolicLink(sources.resolve("lost.c"), folder.resolve("nothing"));
        assertThatThrownBy(this::read)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("lost.c: this link is broken");
    }

    @Test
    void aFolderThatIsNoneIsRefused() throws IOException {
        Files.delete(sources);
        assertThat(read()).isEmpty();
        Files.writeString(sources, "int main(void) { }");
        assertThatThrownBy(this::read).isInstanceOf(KilnException.class).hasMessageContaining("this is not a folder");
        Files.delete(sources);
        Files.createSymbolicLink(sources, folder.resolve("nothing"));
        assertThatThrownBy(this::read).isInstanceOf(KilnException.class).hasMessageContaining("this is not a folder");
    }

    @Test
    void pointersOfGitLfsAreRefused() throws IOException {
        write("a.S", "  .incbin \"blob.bin\"\n");
        write("blob.bin", "version https://git-lfs.github.com/spec/v1\r\noid sha256:4d7a\r\n");
        assertThatThrownBy(this::read)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("blob.bin: this is only a pointer of Git LFS");
    }

    @Test
    void textThatIsNotUtf8IsReadAllTheSame() throws IOException {
        Files.write(sources.resolve("a.c"), "/* Größe */ int main(void) { }".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(read()).containsExactly("a.c");
    }

    /** Whatever hides main from the text: no other program takes its place. */
    @Test
    void aMainThatOnlyThePreprocessorMakesIsRefused() throws IOException {
        for (String hidden : List.of(
                "#define ENTRY main\nint ENTRY(void);\nint ENTRY(void) { return 7; }\n",
                "#include \"entry.h\"\n",
                "#define ENTRY main\n__attribute__((weak)) int ENTRY(void);\nint ENTRY(void) { return 7; }\n",
                "int (main)(void) { return 7; }\n")) {
            write("entry.h", "int main(void);\nint main(void) { return 7; }\n");
            write("a.c", hidden);
            FirmwareRequest request = TestFirmware.request("host", "host", folder);
            FirmwareProject project = FirmwareAssembler.assemble(request, Log.QUIET);
            assertThatThrownBy(() -> FirmwareCompiler.compile(project, Log.QUIET))
                    .as(hidden)
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(
                            "main/a.c: this source defines `main`, but not in a form that Kiln recognises");
        }
    }

    @Test
    void mainMayBeAssembler() throws IOException {
        write(
                "a.S",
                "  .syntax unified\n  .thumb\n  .globl main\n  .type main, %function\nmain:\n  movs r0, #0\n  bx lr\n");
        FirmwareRequest request = TestFirmware.request("mps2-an386", "gnu", folder);
        assertThat(TestFirmware.build(request, folder, Log.QUIET).elf()).exists();
    }

    private List<String> read() {
        return UserSources.read(UserCode.of(sources)).keySet().stream()
                .map(name -> name.substring("main/".length()))
                .toList();
    }

    private void write(String name, String text) throws IOException {
        Path file = sources.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
