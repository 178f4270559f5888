// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.firmware.TestElf;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.image.Measurement.ImageMeasurer;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ElfFileTest {
    private static final Board BOARD = Boards.builtIn().find("mps2-an386");

    /** Of the small image of 32 bits: where its tables are. */
    private static final int TEXT = 52 + 32;

    private static final int NAMES = TEXT + 24;
    private static final int SECTION_NAMES = NAMES + 12;
    private static final int SYMBOLS = SECTION_NAMES + 44;
    private static final int SECTIONS = SYMBOLS + 48;
    private static final int SYMTAB = SECTIONS + 4 * 40;
    private static final int STRTAB = SECTIONS + 5 * 40;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void bothWidthsAndByteOrdersAreRead(boolean wide, boolean big) throws IOException {
        byte[] file = TestElf.bytes(wide, big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        ElfFile elf = read(file);
        assertThat(elf.entry()).isEqualTo(0x8000);
        assertThat(elf.sections())
                .extracting(Section::name)
                .containsExactly("", ".text", ".data", ".bss", ".symtab", ".strtab", ".shstrtab");
        assertThat(elf.symbols()).extracting(Symbol::name).containsExactly("", "main", "table");
        assertThat(LoadImage.of(elf).blocks())
                .extracting(LoadImage.Block::address)
                .containsExactly(0x8000L, 0x20000000L);
        assertThat(ImageMeasurer.measure(elf, BOARD).flash().text()).isEqualTo(16);
    }

    @Test
    void whatIsNoElfFileIsRefused() throws IOException {
        refused(new byte[0])
                .hasMessageContaining(
                        "image.elf, offset 0x0: this is not a whole ELF file: it does not begin with an ELF header");
        refused("MZ a program of another system".getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                .hasMessageContaining("it does not begin with an ELF header");
        refused(with(4, 1, 9))
                .hasMessageContaining("offset 0x4: this is not a whole ELF file: the class is neither 32 nor 64 bits");
        refused(with(5, 1, 0))
                .hasMessageContaining("offset 0x5: this is not a whole ELF file: the byte order is unknown");
    }

    @Test
    void tablesThatLieBehindTheFileAreRefused() throws IOException {
        refused(with(28, 4, -1))
                .hasMessageContainingAll("offset 0x1c", "the table of program headers of 32 bytes at 0xff");
        refused(with(32, 4, 0x7fffffff))
                .hasMessageContainingAll("offset 0x20", "the table of section headers of 280 bytes");
        refused(with(SYMTAB + 16, 4, 0x7ffffff0))
                .hasMessageContaining("a section of 48 bytes at 0x7ffffff0 ends beyond");
        refused(with(SYMTAB + 20, 4, 0x7ffffff0)).hasMessageContaining("ends beyond the file");
        refused(with(SECTIONS + 40 + 20, 4, -1)).hasMessageContaining("a section of 4294967295 bytes");
    }

    @Test
    void entriesWithoutSizeAreRefused() throws IOException {
        refused(with(42, 2, 0)).hasMessageContainingAll("offset 0x2a", "a program header has 0 bytes and needs 32");
        refused(with(46, 2, 0)).hasMessageContainingAll("offset 0x2e", "a section header has 0 bytes and needs 40");
        refused(with(SYMTAB + 36, 4, 0)).hasMessageContaining("a symbol has 0 bytes, not 16");
        refused(with(SYMTAB + 20, 4, 47)).hasMessageContaining("the table of symbols has 47 bytes");
    }

    @Test
    void countsBeyondThoseOfImagesAreRefused() throws IOException {
        refused(with(48, 2, 0xffff)).hasMessageContainingAll("offset 0x30", "there are 65535 section headers");
        refused(with(44, 2, 0xffff)).hasMessageContainingAll("offset 0x2c", "there are 65535 program headers");
    }

    @Test
    void stringsThatDoNotEndOrLieElsewhereAreRefused() throws IOException {
        refused(with(SECTION_NAMES + 43, 1, 'x')).hasMessageContaining("a name is not terminated in its table");
        refused(with(SYMBOLS + 16, 4, 12)).hasMessageContaining("a name lies at 12 of a table of 12 bytes");
        refused(with(SYMBOLS + 16, 4, -1)).hasMessageContaining("a name lies at 4294967295");
        refused(with(STRTAB + 20, 4, 0)).hasMessageContaining("a name lies at 1 of a table of 0 bytes");
        refused(with(SYMTAB + 24, 4, 1)).hasMessageContaining("section 1 is not a table of strings");
        refused(with(SYMTAB + 24, 4, -1)).hasMessageContaining("section -1 is not a table of strings");
        refused(with(50, 2, 7)).hasMessageContaining("section 7 is not a table of strings");
        byte[] twice = with(STRTAB + 4, 4, 2);
        twice[STRTAB + 36] = 16;
        refused(twice).hasMessageContaining("there are 2 tables of symbols");
    }

    @Test
    void emptySectionsAreRead() throws IOException {
        assertThat(read(with(SYMTAB + 20, 4, 0)).symbols()).isEmpty();
        assertThat(LoadImage.of(read(with(SECTIONS + 40 + 20, 4, 0))).blocks()).hasSize(1);
        byte[] without = with(48, 2, 0);
        without[50] = 0;
        assertThat(read(without).sections()).isEmpty();
    }

    @Test
    void partsThatOverlapAreNoImage() throws IOException {
        ElfFile overlap = read(with(SECTIONS + 2 * 40 + 12, 4, 0x8008));
        assertThatThrownBy(() -> LoadImage.of(overlap))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the 8 bytes for address 0x8008 overlap");
        ElfFile far = read(with(SECTIONS + 2 * 40 + 12, 4, -4));
        assertThatThrownBy(() -> LoadImage.of(far))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("lie beyond 32 bits");
    }

    /** A symbol each for a long name, all the same: a small file that would otherwise unfold into gigabytes. */
    @Test
    void longNamesThatOverlapAreRefusedSoon() throws IOException {
        byte[] small = TestElf.bytes(false, ByteOrder.LITTLE_ENDIAN);
        int symbols = 100_000;
        int names = 1 << 20;
        ByteBuffer file =
                ByteBuffer.allocate(small.length + names + 16 * symbols).order(ByteOrder.LITTLE_ENDIAN);
        file.put(small);
        for (int i = 0; i < names - 1; i++) {
            file.put((byte) 'x');
        }
        file.put((byte) 0);
        file.putInt(STRTAB + 16, small.length).putInt(STRTAB + 20, names);
        file.putInt(SYMTAB + 16, small.length + names).putInt(SYMTAB + 20, 16 * symbols);
        refused(file.array()).hasMessageContaining("the names overlap");
    }

    @Test
    void everyCutAndEveryWrongByteIsAnsweredByAMessage() throws IOException {
        for (boolean wide : new boolean[] {false, true}) {
            byte[] file = TestElf.bytes(wide, ByteOrder.LITTLE_ENDIAN);
            for (int length = 0; length < file.length; length++) {
                holds(Arrays.copyOf(file, length), length);
            }
            for (int at = 0; at < file.length; at++) {
                for (int value : List.of(0, 1, 0x7f, 0x80, 0xff)) {
                    byte[] wrong = file.clone();
                    wrong[at] = (byte) value;
                    holds(wrong, at);
                }
            }
        }
    }

    private void holds(byte[] file, int at) throws IOException {
        Path path = Files.write(folder.resolve("image.elf"), file);
        Throwable thrown = catchThrowable(() -> {
            ElfFile elf = ElfFile.read(path);
            ImageMeasurer.measure(elf, BOARD);
            LoadImage load = LoadImage.of(elf);
            load.binary();
            load.intelHex();
        });
        if (thrown != null) {
            assertThat(thrown).as("byte " + at).isInstanceOf(KilnException.class);
        }
    }

    private static byte[] with(int at, int bytes, int value) {
        byte[] file = TestElf.bytes(false, ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < bytes; i++) {
            file[at + i] = (byte) (value >> (8 * i));
        }
        return file;
    }

    private ElfFile read(byte[] file) throws IOException {
        return ElfFile.read(Files.write(folder.resolve("image.elf"), file));
    }

    private AbstractThrowableAssert<?, ?> refused(byte[] file) throws IOException {
        Path path = Files.write(folder.resolve("image.elf"), file);
        return assertThatThrownBy(() -> ElfFile.read(path)).isInstanceOf(KilnException.class);
    }
}
