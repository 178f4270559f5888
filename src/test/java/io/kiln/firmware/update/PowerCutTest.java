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
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.firmware.update.ModelRegion.DeviceModels.UpdateFile;
import io.kiln.firmware.update.SlottedFirmware.SlotRequest;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
    private static final int MINIMUM_FIRMWARE_AT = 24;
    private static final int BOARD_AT = 48;
    private static final int INTERFACE_AT = 112;
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
        UserCode code = UserCode.of(
                main,
                new CodeFlags(
                        List.of("KILN_BOARD", "CUTS=" + CUTS, "SEED=" + SEED + "u", "TABLE_BYTES=" + TABLE_BYTES + "u"),
                        List.of(),
                        Libc.NONE,
                        false));
        SlottedFirmware firmware = slotted(0);
        WholeFiles.write(main.resolve("include/updates.h"), updates(firmware.update()));
        FirmwareRequest request =
                firmware.request().with(firmware.request().content().with(code));
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Path elf = FirmwareLinker.link(objects, folder.resolve("out"), "app", Log.QUIET)
                .elf();

        StringBuilder text = new StringBuilder();
        try (RunningProcess process = Emulator.of(board, Duration.ofMinutes(2)).start(elf)) {
            End end = ImageConsole.follow(process.output(), Duration.ofMinutes(2), text::append, said -> false);
            assertThat(end).as(text.toString()).matches(last -> Ends.code(last) == 0);
        }
        assertThat(text).contains("all cuts survived");
        assertThat(codeBytes(objects)).isBetween(1000L, (long) MOST_CODE);
    }

    /** Code and constants of all that verifies and writes updates. */
    private static long codeBytes(CompiledObjects objects) {
        Set<String> names =
                Set.of("kiln_ed25519.c", "kiln_field25519.c", "kiln_sha512.c", "kiln_slots.c", "kiln_update.c");
        return objects.files().entrySet().stream()
                .filter(file ->
                        names.contains(Path.of(file.getKey()).getFileName().toString()))
                .flatMap(file -> ElfFile.read(file.getValue()).sections().stream())
                .filter(section -> section.isAllocated() && section.hasContent())
                .filter(section -> !section.name().startsWith(".ARM.ex"))
                .mapToLong(ElfFile.Section::size)
                .sum();
    }

    /** The files that the program gets, as C; those to be refused differ from a good one in a field of their headers. */
    private String updates(UpdateFile old) {
        UpdateFile good = slotted(1).update();
        return header("update_0", old)
                + header("update_1", good)
                + header("update_2", slotted(2).update())
                + header("update_other_key", changed(good, BOARD_AT, "mps2-an386", 2))
                + header("update_other_board", changed(good, BOARD_AT, "mps2-an999", 1))
                + header("update_other_interface", changed(good, INTERFACE_AT, "another digest", 1))
                + header("update_newer_firmware", changed(good, MINIMUM_FIRMWARE_AT, "\1\0\0\1", 1));
    }

    /** Signed anew, so that nothing else is wrong. */
    private UpdateFile changed(UpdateFile file, int at, String bytes, int key) {
        return new UpdateFile(file.regions().stream()
                .map(region -> {
                    byte[] content = region.bytes().toArray();
                    byte[] put = bytes.getBytes(StandardCharsets.ISO_8859_1);
                    System.arraycopy(put, 0, content, at, put.length);
                    return ModelRegion.read(ByteBuffer.wrap(content), "test").signed(TestKeys.key(folder, key));
                })
                .toList());
    }

    private SlottedFirmware slotted(int version) {
        FirmwareRequest plain = TestFirmware.request(
                board, "clang", Optimize.SPEED, List.of(model(version)), folder.resolve("project"));
        UpdateVersion firmware = new UpdateVersion(1, 0, 0);
        SlotRequest request =
                new SlotRequest(TestKeys.key(folder, 1), new UpdateVersion(1, version, 0), firmware, firmware);
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

    private static String header(String name, UpdateFile file) {
        Bytes bytes = file.bytes();
        return IntStream.range(0, bytes.size())
                .mapToObj(i -> Integer.toString(bytes.get(i) & 0xff))
                .collect(Collectors.joining(",", "static const uint8_t " + name + "[] = {", "};\n"));
    }
}
