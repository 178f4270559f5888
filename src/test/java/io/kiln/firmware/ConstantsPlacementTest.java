// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Memory;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Constants of models lie in the section that TVM names, as aligned as there, in the board's memory for constants. (Compilers may compute
 * with a small table's elements and leave the table out.)
 */
class ConstantsPlacementTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");

    private static final Pattern TABLE = Pattern.compile("static const \\w+ [^=\\n]*?(tvmgen_gesture_\\w+)\\[");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"mps3-an547, gnu", "qemu-riscv32, clang", "host, host"})
    void allTablesOfAModelLieInTheSectionForConstants(String id, String toolchain) {
        Board board = TestFirmware.board(id);
        var library = ModelCompiler.compile(
                        RequestDraft.of(MODEL, board.target()).name("gesture").build())
                .library();
        Set<String> tables = tables(library.artifacts().artifacts().get(1).text());

        FirmwareRequest request = TestFirmware.request(board, toolchain, Optimize.SPEED, List.of(library), folder);
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        ElfFile object = ElfFile.read(objects.files().get("codegen/host/src/gesture_lib1.c"));
        assertThat(object.symbols().stream().filter(symbol -> tables.contains(symbol.name())))
                .hasSizeGreaterThan(3)
                .allSatisfy(symbol -> {
                    assertThat(sectionOf(object, symbol).name()).isEqualTo(".rodata.tvm");
                    assertThat(sectionOf(object, symbol).isWritable()).isFalse();
                });

        Image image = FirmwareLinker.link(objects, folder.resolve("target"), "app", Log.QUIET);
        ElfFile elf = ElfFile.read(image.elf());
        assertThat(elf.symbols().stream().filter(symbol -> tables.contains(symbol.name())))
                .hasSizeGreaterThan(3)
                .allSatisfy(symbol -> {
                    assertThat(symbol.value() % 16).isZero();
                    assertThat(sectionOf(elf, symbol).name()).isEqualTo(".rodata");
                    assertThat(board.constants().stream()).allMatch(memory -> holds(memory, symbol));
                });
        long bytes = elf.symbols().stream()
                .filter(symbol -> tables.contains(symbol.name()))
                .mapToLong(Symbol::size)
                .sum();
        assertThat(image.measurement().flash().constants()).isGreaterThanOrEqualTo(bytes);
    }

    private static Set<String> tables(String source) {
        Set<String> tables = new TreeSet<>();
        for (Matcher matcher = TABLE.matcher(source); matcher.find(); ) {
            tables.add(matcher.group(1));
        }
        return tables;
    }

    private static Section sectionOf(ElfFile elf, Symbol symbol) {
        return elf.sections().get(symbol.section());
    }

    private static boolean holds(Memory memory, Symbol symbol) {
        return symbol.value() >= memory.base() && symbol.value() + symbol.size() <= memory.base() + memory.size();
    }
}
