// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.toolchain.board.Building.CompilerFlags;
import io.kiln.toolchain.compiler.Toolchains;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompilerFlagsTest {
    @TempDir
    private Path boards;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-DHSE_VALUE=8000000",
                "-DNDEBUG",
                "-UDEBUG",
                "-Os",
                "-O2",
                "-Wall",
                "-Wno-unused-parameter",
                "-Wframe-larger-than=1024",
                "-Werror=return-type",
                "-g3",
                "-ggdb",
                "-gdwarf-4",
                "-std=gnu17",
                "-fno-jump-tables",
                "-fno-strict-aliasing",
                "-falign-functions=16",
                "-mno-unaligned-access",
                "-mlong-calls",
                "-mtune=cortex-m4",
                "-Iinclude",
                "-Ivendor/inc"
            })
    void whatIsHarmlessIsAllowed(String flag) {
        assertThat(CompilerFlags.refusal(flag)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-fplugin=evil.so",
                "-fplugin-arg-evil-x",
                "-fpass-plugin=evil.so",
                "-wrapper",
                "-wrapper,evil",
                "-B.",
                "-B",
                "-specs=evil.specs",
                "--specs=evil.specs",
                "@flags.txt",
                "-include",
                "-include/etc/passwd",
                "--include=/etc/passwd",
                "-imacros",
                "-I/etc",
                "-I..",
                "-Ia/../..",
                "-I.",
                "-I",
                "-I-",
                "-isystem",
                "-iquote/etc",
                "-idirafter",
                "--sysroot=/",
                "-Wl,--version-script=x",
                "-Wl,-T,evil.ld",
                "-Wa,-I/etc",
                "-Wp,-MD,/tmp/x",
                "-Xlinker",
                "-Xassembler",
                "-Xpreprocessor",
                "-Xclang",
                "-x",
                "-xassembler",
                "-T",
                "-Tevil.ld",
                "-lm",
                "-L/usr/lib",
                "-o",
                "-o/tmp/x",
                "-MD",
                "-MF/tmp/x",
                "-save-temps",
                "-dumpdir",
                "-fdump-tree-all",
                "-fprofile-use=/etc/x",
                "-fprofile-generate",
                "-fstack-usage",
                "-fcallgraph-info",
                "-fdebug-prefix-map=a=b",
                "-ffile-prefix-map=a=b",
                "-fopt-info-all=/tmp/x",
                "-fmodule-mapper=|evil",
                "-fuse-ld=evil",
                "-flto",
                "-fbuiltin",
                "-ftree-loop-distribute-patterns",
                "-ffast-math",
                "-ffp-contract=fast",
                "-Ofast",
                "-fshort-enums",
                "-mcpu=cortex-m7",
                "-mfloat-abi=soft",
                "-gsplit-dwarf",
                "-gcc-toolchain=/tmp",
                "--config=x",
                "-c",
                "-E",
                "-###",
                "-pipe",
                "-w",
                "-DX=\"a b\"",
                "-DX=`id`",
                "-DX=$(id)",
                "-DX(a)=a",
                "-D",
                "-DX Y",
                "-O2 -fplugin=evil.so",
                "-O2\n-fplugin=evil.so",
                "-Wall,-x",
                "main.c",
                ""
            })
    void everythingElseIsRefused(String flag) {
        assertThat(CompilerFlags.refusal(flag)).isPresent();
    }

    @Test
    void theOfficialNamesOfToolchainsAreTheSchemas() throws IOException {
        try (InputStream in = getClass().getResourceAsStream("/toolchains/schemas/board.schema.json")) {
            JsonNode names = new ObjectMapper().readTree(in).at("/$defs/toolchain/enum");
            List<String> all = new ArrayList<>();
            names.forEach(name -> all.add(name.asText()));
            assertThat(all)
                    .containsExactlyInAnyOrderElementsOf(Toolchains.builtIn().keySet());
        }
    }

    @Test
    void flagsAndToolchainAreReadAndTheNearestProfileCountsAsAWhole() throws IOException {
        write(
                "base",
                "toolchain: gnu\nflags: {defines: {HSE_VALUE: 0x10, NAME: a1, ON: \"\"}, compile: [-Iinclude, -Os], symbols: {__stack_size: 8K, k: 0}}\n");
        Files.createDirectories(boards.resolve("base/include"));
        Files.writeString(boards.resolve("base/include/part.h"), "#define PART 1\n");
        Building base = find("base").building();
        assertThat(base.compile()).containsExactly("-DHSE_VALUE=16", "-DNAME=a1", "-DON", "-Iinclude", "-Os");
        assertThat(base.link()).containsExactly("-Wl,--defsym=__stack_size=0x2000", "-Wl,--defsym=k=0x0");
        assertThat(base.toolchain().orElseThrow().toolchain()).isEqualTo("gnu");
        assertThat(base.toolchain().orElseThrow().required()).isFalse();

        extend("heir", "title: Heir\n");
        assertThat(find("heir").building()).isEqualTo(base);
        extend("other", "toolchain: {require: clang}\nflags: {compile: [-O2]}\n");
        Building other = find("other").building();
        assertThat(other.compile()).containsExactly("-O2");
        assertThat(other.link()).isEmpty();
        assertThat(other.toolchain().orElseThrow().required()).isTrue();
        assertThat(other.toolchain().orElseThrow().where()).endsWith("other/board.yaml:4");
        extend("none", "flags: {defines: {}}\n");
        assertThat(find("none").building().compile()).isEmpty();
    }

    @Test
    void whatIsRefusedIsNamedWithItsLineAlsoInAProjectsOwnBoard() throws IOException {
        write("mine", """
                flags:
                  defines: {OK: 1}
                  compile:
                    - -O2
                    - -fplugin=./evil.so
                    - -O2
                    - -Wl,-T,x
                    - -Iabsent
                """);
        KilnException refused = catchThrowableOfType(KilnException.class, () -> find("mine"));
        String file = boards.resolve("mine/board.yaml").toString();
        assertThat(refused.problems())
                .extracting(Problem::where)
                .containsExactly(file + ":8", file + ":10", file + ":11");
        assertThat(refused.getMessage())
                .contains(
                        "-fplugin=./evil.so is refused: it runs a program",
                        "flags.symbols",
                        "folder absent/ does not exist");

        write("mine", "flags: {defines: {X: \"a b\"}, symbols: {\"a=b\": 1}}\ntoolchain: tcc\n");
        assertThat(catchThrowableOfType(KilnException.class, () -> find("mine")).problems())
                .extracting(Problem::where)
                .contains(file + ":4", file + ":5");
    }

    private Board find(String id) {
        return Boards.builtIn().with(boards).find(id);
    }

    private void write(String id, String more) throws IOException {
        Path folder = Files.createDirectories(boards.resolve(id));
        Files.writeString(folder.resolve("board.yaml"), "schema: 1\nid: " + id + "\nextends: mps2-an386\n" + more);
    }

    private void extend(String id, String more) throws IOException {
        Path folder = Files.createDirectories(boards.resolve(id));
        Files.writeString(folder.resolve("board.yaml"), "schema: 1\nid: " + id + "\nextends: base\n" + more);
    }
}
