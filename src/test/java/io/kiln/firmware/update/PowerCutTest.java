// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.protocol.ImageConsole;
import io.kiln.device.protocol.ImageConsole.End;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.firmware.UserCode;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.BoardIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An image in QEMU updates its own models, and loses power at seeded bytes. */
class PowerCutTest {
    private static final int CUTS = 300;
    private static final int SEED = 20260301;
    private static final int TABLE_BYTES = 2500;
    private static final int MOST_CODE = 8 << 10;
    private static final Path TESTS = Path.of("src", "test", "c");

    @TempDir
    Path folder;

    private final Board board = TestFirmware.board("mps2-an386");

    @Test
    void oldOrNewModelsAnswerRightAfterEveryCut() throws IOException {
        TestPrograms.need("qemu-system-arm");
        Path main = folder.resolve("main");
        for (String name : List.of("power_cuts.c", "check.h")) {
            WholeFiles.write(main.resolve(name), Files.readString(TESTS.resolve(name)));
        }
        WholeFiles.write(main.resolve("include/updates.h"), updates());
        UserCode code = UserCode.of(Optional.of(main))
                .with(
                        List.of("KILN_BOARD", "CUTS=" + CUTS, "SEED=" + SEED + "u", "TABLE_BYTES=" + TABLE_BYTES + "u"),
                        List.of());
        FirmwareRequest request =
                slotted(board, model(0), request(1, "1.0.0", "0.0.0")).request().with(code);
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Path elf = FirmwareLinker.link(objects, folder.resolve("out"), "app", Log.QUIET)
                .elf();

        StringBuilder text = new StringBuilder();
        try (RunningProcess process =
                Emulator.of(board, Duration.ofSeconds(120)).start(elf)) {
            End end = ImageConsole.follow(process.output(), Duration.ofSeconds(120), text::append, said -> false);
            assertThat(end).as(text.toString()).isEqualTo(new End.Returned(0));
        }
        assertThat(text).contains("all cuts survived");
        assertThat(codeBytes(objects)).isBetween(1000L, (long) MOST_CODE);
    }

    /** Code and constants of all that verifies and writes updates. */
    private static long codeBytes(CompiledObjects objects) {
        Set<String> names = Set.of("kiln_ed25519.c", "kiln_sha512.c", "kiln_slots.c", "kiln_update.c");
        return objects.files().entrySet().stream()
                .filter(file ->
                        names.contains(Path.of(file.getKey()).getFileName().toString()))
                .flatMap(file -> ElfFile.read(file.getValue()).sections().stream())
                .filter(section -> section.isAllocated() && section.hasContent())
                .filter(section -> !section.name().startsWith(".ARM.ex"))
                .mapToLong(ElfFile.Section::size)
                .sum();
    }

    /** The files that the program gets, as C. */
    private String updates() {
        Board other = new Board(
                new BoardIdentity("mps2-an999", "", BoardIdentity.Maker.UNKNOWN, ""),
                board.target(),
                board.memoryMap(),
                board.support(),
                board.hardware(),
                board.building());
        return header("update_0", slotted(board, model(0), request(1, "1.0.0", "0.0.0")))
                + header("update_1", slotted(board, model(1), request(1, "1.1.0", "0.0.0")))
                + header("update_2", slotted(board, model(2), request(1, "1.2.0", "1.0.0")))
                + header("update_other_key", slotted(board, model(1), request(2, "1.1.0", "0.0.0")))
                + header("update_newer_firmware", slotted(board, model(1), request(1, "1.1.0", "1.0.1")))
                + header(
                        "update_other_interface",
                        slotted(board, TestFirmware.model("other", 50), request(1, "1.1.0", "0.0.0")))
                + header("update_other_board", slotted(other, model(1), request(1, "1.1.0", "0.0.0")));
    }

    private SlotRequest request(int key, String models, String minimumFirmware) {
        return new SlotRequest(
                TestKeys.key(folder, key),
                UpdateVersion.parse(models, "test"),
                UpdateVersion.parse(minimumFirmware.equals("1.0.1") ? "1.0.1" : "1.0.0", "test"),
                UpdateVersion.parse(minimumFirmware, "test"));
    }

    private SlottedFirmware slotted(Board on, ModelLibrary model, SlotRequest request) {
        FirmwareRequest plain =
                TestFirmware.request(on, "clang", Optimize.SIZE, List.of(model), folder.resolve("project"));
        return SlottedFirmware.of(plain, request, folder.resolve("slots"));
    }

    /** A model that adds the table of its version to its input. */
    private static ModelLibrary model(int version) {
        ModelLibrary plain = TestFirmware.model("default", TABLE_BYTES);
        String table = IntStream.range(0, TABLE_BYTES)
                .mapToObj(i -> Byte.toString((byte) (version * 31 + i * 17)))
                .collect(Collectors.joining(", ", "{", "}"));
        List<Artifact> artifacts = plain.artifacts().artifacts().stream()
                .map(file -> Artifact.ofText(
                        file.codegenId(),
                        file.kind(),
                        file.fileName(),
                        file.text().replace("{1, 2, 3}", table)))
                .toList();
        return new ModelLibrary(plain.metadata(), plain.artifacts().with(artifacts));
    }

    private static String header(String name, SlottedFirmware firmware) {
        Bytes bytes = firmware.update().bytes();
        return IntStream.range(0, bytes.size())
                .mapToObj(i -> Integer.toString(bytes.get(i) & 0xff))
                .collect(Collectors.joining(",", "static const uint8_t " + name + "[] = {", "};\n"));
    }
}
