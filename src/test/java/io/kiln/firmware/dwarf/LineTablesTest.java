// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.firmware.dwarf.LineTables.SourceLine;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of this computer's own compiler; those of the cross compilers are read by the emulator's tests. */
class LineTablesTest {
    private static final long SEED = 20260101;
    private static final int MUTATIONS = 20_000;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void anAddressHasTheLineOfItsSource(int version) throws IOException {
        ElfFile elf = program(version);
        LineTables tables = LineTables.of(elf);
        SourceLine first = tables.at(elf.symbolValue("called").orElseThrow()).orElseThrow();
        assertThat(first.file()).endsWith("part/code.c");
        assertThat(first.line()).isEqualTo(1);
        SourceLine second = tables.at(elf.symbolValue("wanted").orElseThrow()).orElseThrow();
        assertThat(second.text()).endsWith("part/code.c:4");
        assertThat(tables.at(0xffff_ffff_0000L)).isEmpty();
        assertThat(tables.at(-1)).isEmpty();
    }

    /** Whatever the sections hold, there is an answer or none, soon. */
    @Test
    @Timeout(60)
    void damagedTablesDoNoHarm() throws IOException {
        Random random = new Random(SEED);
        for (int version : List.of(4, 5)) {
            ElfFile elf = program(version);
            List<Section> sections = elf.sections().stream()
                    .filter(section -> section.name().startsWith(".debug_line") && section.size() > 0)
                    .toList();
            long address = elf.symbolValue("wanted").orElseThrow();
            for (int round = 0; round < MUTATIONS / 2; round++) {
                ByteBuffer content = ByteBuffer.wrap(elf.content().array().clone())
                        .order(elf.content().order());
                Section section = sections.get(random.nextInt(sections.size()));
                for (int i = 1 + random.nextInt(4); i > 0; i--) {
                    int at = (int) section.offset() + random.nextInt((int) section.size());
                    content.put(at, (byte) (random.nextBoolean() ? random.nextInt() : random.nextBoolean() ? 0xff : 0));
                }
                ElfFile damaged = new ElfFile(
                        content,
                        elf.machine(),
                        elf.entry(),
                        elf.sections(),
                        elf.segments(),
                        elf.symbols(),
                        elf.dynamicSymbols());
                assertThat(LineTables.of(damaged).at(address))
                        .matches(line -> line.isEmpty() || line.get().line() > 0);
            }
        }
    }

    @Test
    void sectionsBeyondTheFileAreNoSections() throws IOException {
        ElfFile elf = program(5);
        for (long size : List.of(-1L, Long.MAX_VALUE, 1L << 32)) {
            List<Section> sections = elf.sections().stream()
                    .map(each -> new Section(
                            each.name(), each.type(), each.flags(), each.address(), each.offset(), size, each.link()))
                    .toList();
            ElfFile damaged = new ElfFile(
                    elf.content(),
                    elf.machine(),
                    elf.entry(),
                    sections,
                    elf.segments(),
                    elf.symbols(),
                    elf.dynamicSymbols());
            assertThat(LineTables.of(damaged).at(elf.entry())).isEmpty();
        }
    }

    private ElfFile program(int version) throws IOException {
        TestPrograms.need("cc");
        Files.writeString(Files.createDirectories(folder.resolve("part")).resolve("code.c"), """
                __attribute__((noinline)) int called(int x) { return x + 1; }
                int wanted(int x);
                int dropped(int x) { return x + 3; }
                int wanted(int x) {
                  return called(x) * 2;
                }
                """);
        ProcessResult result = ProcessRunner.run(Command.of(
                        "cc",
                        "-gdwarf-" + version,
                        "-O0",
                        "-ffunction-sections",
                        "-nostdlib",
                        "-static",
                        "-Wl,--gc-sections,-e,wanted",
                        "part/code.c",
                        "-o",
                        "program")
                .in(folder));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return ElfFile.read(folder.resolve("program"));
    }
}
