// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.image.ImageFiles.LoadImage.Block;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The images of boards that nobody can run here are read instead: what the hardware looks at when it starts must be where it looks. */
class HardwareBoardsTest {
    private static final int BOOT2_BYTES = 256;

    @TempDir
    private Path folder;

    static Stream<Arguments> cortexBoards() {
        return Stream.of(
                        Arguments.of("nucleo-l4r5zi", 0x08000000L, 0x20000000L, 640),
                        Arguments.of("nucleo-f446re", 0x08000000L, 0x20000000L, 128),
                        Arguments.of("nucleo-f746zg", 0x08000000L, 0x20000000L, 320),
                        Arguments.of("nucleo-h743zi", 0x08000000L, 0x24000000L, 512),
                        Arguments.of("stm32f4-discovery", 0x08000000L, 0x20000000L, 128),
                        Arguments.of("b-u585i-iot02a", 0x08000000L, 0x20000000L, 768),
                        Arguments.of("nrf52840-dk", 0x00000000L, 0x20000000L, 256),
                        Arguments.of("alif-e7-devkit-he", 0x80000000L, 0x02000000L, 4096),
                        Arguments.of("numaker-m55m1", 0x00100000L, 0x20100000L, 1344),
                        Arguments.of("raspberry-pi-pico", 0x10000100L, 0x20000000L, 264))
                .flatMap(board -> Stream.of("clang", "gnu").map(toolchain -> {
                    Object[] of = board.get();
                    return Arguments.of(toolchain, of[0], of[1], of[2], of[3]);
                }));
    }

    @ParameterizedTest
    @MethodSource("cortexBoards")
    void theVectorsLieWhereTheCoreLooks(String toolchain, String id, long vectors, long ram, int ramKibibytes) {
        ElfFile elf = build(id, toolchain);

        Section table = section(elf, ".vectors");
        assertThat(table.address()).isEqualTo(vectors);
        assertThat(elf.loadAddress(table)).isEqualTo(vectors);
        ByteBuffer words = ByteBuffer.wrap(elf.bytes(table)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(words.capacity()).isEqualTo(16 * Integer.BYTES);
        long stack = Integer.toUnsignedLong(words.getInt(0));
        assertThat(stack).isEqualTo(elf.symbolValue("__stack_top").orElseThrow());
        assertThat(stack % 8).isZero();
        assertThat(stack).isBetween(ram + 1024, ram + 8192);
        long reset = Integer.toUnsignedLong(words.getInt(4));
        assertThat(reset & 1).as("Thumb").isEqualTo(1);
        assertThat(reset & ~1L).isEqualTo(elf.symbolValue("Reset_Handler").orElseThrow() & ~1L);
        assertThat(elf.entry() & ~1L).isEqualTo(reset & ~1L);
        for (int exception : new int[] {2, 3, 11, 14, 15}) {
            assertThat(codeOf(elf, Integer.toUnsignedLong(words.getInt(4 * exception)) & ~1L))
                    .isTrue();
        }
        assertThat(TestFirmware.board(id).workspace().orElseThrow())
                .satisfies(memory -> assertThat(memory.base()).isEqualTo(ram))
                .satisfies(memory -> assertThat(memory.size()).isEqualTo(ramKibibytes * 1024L));
        everythingLiesInItsMemory(elf, TestFirmware.board(id));
    }

    @ParameterizedTest
    @MethodSource("cortexBoards")
    void aLargeImageFillsTheMemoryOfVariables(String toolchain, String id, long vectors, long ram, int ramKibibytes) {
        ElfFile elf = link(id, toolchain, (ramKibibytes - 16) << 10, "");
        assertThat(elf.symbolValue("__bss_end").orElseThrow())
                .isBetween(ram + ((ramKibibytes - 16L) << 10), ram + (ramKibibytes * 1024L));
        everythingLiesInItsMemory(elf, TestFirmware.board(id));
    }

    /** SRAM 2 has two addresses: what is copied to the one is not overwritten by the other. */
    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void functionsInSram2EndTheVariablesBeforeIt(String toolchain) {
        String inRam = "__attribute__((section(\".ramfunc.add\"))) ";
        ElfFile elf = link("nucleo-l4r5zi", toolchain, 180 << 10, inRam);
        assertThat(elf.symbolValue("tvmgen_default_add").orElseThrow() & ~1L).isEqualTo(0x10000000L);
        assertThat(elf.symbolValue("__bss_end").orElseThrow()).isLessThan(0x20030000L);
        assertThatThrownBy(() -> link("nucleo-l4r5zi", toolchain, 200 << 10, inRam))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("SRAM 2 holds functions");
    }

    private ElfFile link(String id, String toolchain, int workspace, String attribute) {
        ModelLibrary small = TestFirmware.model("default", 1000);
        List<Artifact> files = small.artifacts().artifacts().stream()
                .map(file -> Artifact.ofText(
                        file.codegenId(),
                        file.kind(),
                        file.fileName(),
                        file.content()
                                .text()
                                .replace("global_workspace[256]", "global_workspace[" + workspace + "]")
                                .replace(
                                        "h>\nint32_t tvmgen_default_add",
                                        "h>\n" + attribute + "int32_t tvmgen_default_add")))
                .toList();
        ModelLibrary model = new ModelLibrary(small.metadata(), new ArtifactSet(files));
        return ElfFile.read(TestFirmware.build(
                        TestFirmware.request(TestFirmware.board(id), toolchain, Optimize.SPEED, List.of(model), folder),
                        folder,
                        Log.QUIET)
                .elf());
    }

    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void theSecondStageOfThePicoBootIsWholeAndItsChecksumRight(String toolchain) {
        ElfFile elf = build("raspberry-pi-pico", toolchain);

        Section boot2 = section(elf, ".boot2");
        assertThat(elf.loadAddress(boot2)).isEqualTo(0x10000000L);
        byte[] content = elf.bytes(boot2);
        assertThat(content).hasSize(BOOT2_BYTES);
        int stored = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getInt(BOOT2_BYTES - 4);
        assertThat(Integer.toHexString(stored)).isEqualTo(Integer.toHexString(checksum(content, BOOT2_BYTES - 4)));
        assertThat(elf.symbolValue("kiln_boot2").orElseThrow() & ~1L).isEqualTo(0x10000000L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void theHiFiveImageBeginsWhereItsBootLoaderJumps(String toolchain) {
        ElfFile elf = build("hifive1-revb", toolchain);

        assertThat(elf.entry()).isEqualTo(0x20010000L);
        assertThat(elf.symbolValue("_start")).contains(0x20010000L);
        assertThat(LoadImage.of(elf).blocks().get(0).address()).isEqualTo(0x20010000L);
        assertThat(elf.symbolValue("__stack_top").orElseThrow()).isBetween(0x80000400L, 0x80002000L);
        everythingLiesInItsMemory(elf, TestFirmware.board("hifive1-revb"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nucleo-l4r5zi",
                "nucleo-f446re",
                "nucleo-f746zg",
                "nucleo-h743zi",
                "stm32f4-discovery",
                "b-u585i-iot02a",
                "nrf52840-dk",
                "raspberry-pi-pico",
                "hifive1-revb"
            })
    void theStandInHasRoomForEverythingThatTheBoardHolds(String id) {
        Board board = TestFirmware.board(id);
        assertThat(board.emulation()).isInstanceOf(Emulation.StandIn.class);
        Board standIn = TestFirmware.board(((Emulation.StandIn) board.emulation()).board());
        assertThat(standIn.workspace().orElseThrow().size())
                .isGreaterThanOrEqualTo(board.workspace().orElseThrow().size());
        assertThat(standIn.constants().orElseThrow().size())
                .isGreaterThanOrEqualTo(board.constants().orElseThrow().size());
    }

    private ElfFile build(String id, String toolchain) {
        return ElfFile.read(TestFirmware.build(TestFirmware.request(id, toolchain, folder), folder, Log.QUIET)
                .elf());
    }

    private static Section section(ElfFile elf, String name) {
        return elf.sections().stream()
                .filter(section -> section.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static boolean codeOf(ElfFile elf, long address) {
        return elf.sections().stream()
                .filter(Section::isExecutable)
                .anyMatch(section -> address >= section.address() && address < section.address() + section.size());
    }

    private static void everythingLiesInItsMemory(ElfFile elf, Board board) {
        Board.Memory flash = board.constants().orElseThrow();
        Board.Memory ram = board.workspace().orElseThrow();
        assertThat(LoadImage.of(elf).blocks())
                .extracting(Block::address)
                .allMatch(address -> address >= flash.base() && address < flash.end());
        assertThat(elf.sections())
                .filteredOn(section -> section.isAllocated() && section.isWritable() && section.size() > 0)
                // The linker's table of addresses of weak symbols is writable to it, and never written.
                .filteredOn(section -> !section.name().equals(".rodata.got"))
                .isNotEmpty()
                .allMatch(
                        section -> section.address() >= ram.base() && section.address() + section.size() <= ram.end());
    }

    /** RP2040 Datasheet, 2.8.1.3.1: CRC-32, polynomial 0x04c11db7, most significant bit first, from all ones, not inverted. */
    private static int checksum(byte[] content, int bytes) {
        int crc = -1;
        for (int i = 0; i < bytes; i++) {
            crc ^= content[i] << 24;
            for (int bit = 0; bit < 8; bit++) {
                crc = crc << 1 ^ (crc < 0 ? 0x04c11db7 : 0);
            }
        }
        return crc;
    }
}
