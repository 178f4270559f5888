// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions, weights and tables that a program copies to RAM when it starts lie there, and answer as they do in flash. */
class RamSectionsTest {
    private static final VerifySpec VECTORS =
            new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0);

    @TempDir
    private Path folder;

    private final Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));

    @ParameterizedTest
    @CsvSource({
        "mps2-an386, clang",
        "mps2-an386, gnu",
        "mps2-an385, gnu",
        "mps2-an500, clang",
        "mps2-an500, gnu",
        "mps3-an547, clang",
        "mps3-an547, gnu",
        "microbit, clang",
        "microbit, gnu",
        "qemu-riscv32, clang",
        "qemu-riscv32, gnu",
    })
    void everythingInRamAnswersBitExact(String id, String toolchain) throws IOException {
        GestureProject project = build(id, toolchain, VECTORS);
        assertThat(project.json("kiln/verify.json").path("bitExact").asBoolean())
                .isTrue();
        liesInRam(project, id);
    }

    @ParameterizedTest
    @CsvSource({
        "nucleo-l4r5zi, clang, 0x10000000, 0x20000000",
        "nucleo-l4r5zi, gnu, 0x10000000, 0x20000000",
        "nucleo-f746zg, clang, 0x00000000, 0x20000000",
        "nucleo-f746zg, gnu, 0x00000000, 0x20000000",
        "nucleo-h743zi, clang, 0x00000000, 0x20000000",
        "nucleo-h743zi, gnu, 0x00000000, 0x20000000",
        "nucleo-f446re, gnu, 0x20000000, 0x20000000",
        "b-u585i-iot02a, clang, 0x20000000, 0x20000000",
        "nrf52840-dk, gnu, 0x20000000, 0x20000000",
        "raspberry-pi-pico, clang, 0x20000000, 0x20000000",
        "raspberry-pi-pico, gnu, 0x20000000, 0x20000000",
        "hifive1-revb, clang, 0x80000000, 0x80000000",
        "hifive1-revb, gnu, 0x80000000, 0x80000000",
    })
    void boardsHavePlacesForBoth(String id, String toolchain, long code, long weights) throws IOException {
        GestureProject project = build(id, toolchain, GestureProject.UNVERIFIED);
        ElfFile elf = liesInRam(project, id);
        assertThat(functions(elf))
                .allSatisfy(symbol ->
                        assertThat(symbol.value() - code).as(symbol.name()).isBetween(0L, 0x10000L));
        assertThat(tables(elf))
                .allSatisfy(symbol ->
                        assertThat(symbol.value() - weights).as(symbol.name()).isBetween(0L, 0x10000L));
    }

    /** The wake word model takes no more than the polite share, an eighth of it for rows, and what it saves is reported. */
    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    @NeedsShared("golden")
    void aBoardWhoseFlashWaitsSparesSomeRam(String toolchain) throws IOException {
        Board board = Boards.builtIn().find("nucleo-l4r5zi");
        TestToolchains.resolve(toolchain, board.target());
        GestureProject project = new GestureProject(folder);
        JsonNode before = kws(project, toolchain, RamOptions.NONE);
        JsonNode after = kws(project, toolchain, RamOptions.AUTO);
        JsonNode copies = after.path("models").path(0).path("ramCopies");
        long weights = copies.path("constantBytes").asLong();
        assertThat(weights).isPositive();
        assertThat(copies.path("savedCycles").asLong()).isGreaterThan(100_000);
        assertThat(copies.path("nextSavedCycles").asLong()).isPositive();
        assertThat(after.path("ram").path("total").asLong()
                        - before.path("ram").path("total").asLong())
                .isBetween(weights, weights + (4L << 10));
        assertThat(after.path("ram").path("total").asLong()).isLessThanOrEqualTo(24 * 1024);
        assertThat(weightsInRam(before)).isZero();
        assertThat(weightsInRam(after)).isBetween(1L, weights);
        // Calls between flash and RAM are too far for a branch, and rows that are computed together have ends of their
        // own.
        assertThat(after.path("flash").path("total").asLong()
                        - before.path("flash").path("total").asLong())
                .isLessThanOrEqualTo(256);
    }

    /** Bytes of the largest tables of weights that are said to lie in RAM. */
    private static long weightsInRam(JsonNode report) {
        long bytes = 0;
        for (JsonNode symbol : report.path("image").path("largest")) {
            boolean isInRam = symbol.path("isWritable").asBoolean();
            bytes += isInRam && symbol.path("name").asText().endsWith("_weight")
                    ? symbol.path("bytes").asLong()
                    : 0;
        }
        return bytes;
    }

    @Test
    void anArchiveKeepsTheSectionsAndIsBuiltAgain() throws IOException {
        GestureProject project = build("mps2-an386", "clang", GestureProject.UNVERIFIED);
        Path archive = Files.copy(project.out("gesture-mlf.tar"), folder.resolve("again.tar"));
        assertThat(ModelLibraryFormat.files(archive).keySet()).contains("codegen/host/include/tvmgen_gesture_ram.h");
        GestureProject again = new GestureProject(folder.resolve("again"));
        flow.build(
                SpecDraft.of(
                                again.spec("mps2-an386").build().layout(),
                                List.of(new ModelSource(archive, "gesture")),
                                "mps2-an386")
                        .trustedArchives(TrustedArchives.parse("again.tar"))
                        .verify(GestureProject.UNVERIFIED)
                        .build(),
                DeviceSpec.USUAL);
        liesInRam(again, "mps2-an386");
    }

    private JsonNode kws(GestureProject project, String toolchain, RamOptions ram) throws IOException {
        flow.build(
                SpecDraft.of(
                                project.spec("nucleo-l4r5zi").build().layout(),
                                List.of(new ModelSource(GoldenModels.model("kws_ref_model"), "kws")),
                                "nucleo-l4r5zi")
                        .toolchain(Optional.of(toolchain))
                        .ram(ram)
                        .verify(GestureProject.UNVERIFIED)
                        .build(),
                DeviceSpec.USUAL);
        return project.json("kiln/report.json");
    }

    private GestureProject build(String id, String toolchain, VerifySpec verify) {
        TestToolchains.resolve(toolchain, Boards.builtIn().find(id).target());
        GestureProject project = new GestureProject(folder);
        flow.build(
                project.spec(id)
                        .toolchain(Optional.of(toolchain))
                        .ram(RamOptions.ALL)
                        .verify(verify)
                        .build(),
                DeviceSpec.USUAL);
        return project;
    }

    private static List<Symbol> functions(ElfFile elf) {
        return elf.symbols().stream()
                .filter(Symbol::isFunction)
                .filter(symbol -> symbol.name().matches("tvmgen_gesture_(?!run).*|kiln_(conv|fully|dense|depth).*"))
                .toList();
    }

    private static List<Symbol> tables(ElfFile elf) {
        return elf.symbols().stream()
                .filter(Symbol::isObject)
                .filter(symbol -> symbol.name().startsWith("tvmgen_gesture_"))
                .toList();
    }

    /** What is copied lies in a memory of kind ram, its first copy in flash. */
    private static ElfFile liesInRam(GestureProject project, String id) {
        Board board = Boards.builtIn().find(id);
        ElfFile elf = ElfFile.read(project.out("gesture.elf"));
        assertThat(functions(elf)).hasSizeGreaterThan(2);
        assertThat(tables(elf)).hasSizeGreaterThan(2);
        assertThat(functions(elf))
                .allSatisfy(symbol -> assertThat(kind(board, symbol.value() & ~1L))
                        .as(symbol.name())
                        .contains(Board.Kind.RAM));
        assertThat(tables(elf))
                .allSatisfy(symbol -> assertThat(kind(board, symbol.value()))
                        .as(symbol.name())
                        .contains(Board.Kind.RAM));
        assertThat(elf.sections())
                .filteredOn(section -> section.isAllocated() && section.hasContent() && section.size() > 0)
                .allSatisfy(section -> assertThat(kind(board, elf.loadAddress(section)))
                        .as(section.name())
                        .contains(Board.Kind.ROM));
        return elf;
    }

    private static Optional<Board.Kind> kind(Board board, long address) {
        return board.memories().stream()
                .filter(memory -> address >= memory.base() && address < memory.end())
                .map(Memory::kind)
                .findFirst();
    }
}
