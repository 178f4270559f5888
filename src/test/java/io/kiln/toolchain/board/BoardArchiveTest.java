// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.compress.archivers.zip.UnixStat;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoardArchiveTest {
    private static final String COORDINATES = "com.acme:boards:1.2.0";
    private static final String SENSOR = """
        schema: 1
        id: sensor-v3
        title: Sensor
        extends: nucleo-f446re
        """;

    @TempDir
    private Path folder;

    @Test
    void aBoardOfAnArchiveExtendsABuiltInOne() throws IOException {
        Boards boards =
                boards(Map.of("sensor-v3/board.yaml", SENSOR, "sensor-v3/extra.h", "#define EXTRA 1\n"), Set.of());
        assertThat(boards.ids()).contains("sensor-v3", "nucleo-f446re");
        Board board = boards.find("sensor-v3");
        assertThat(board.title()).isEqualTo("Sensor");
        assertThat(board.files()).containsKeys("extra.h", "startup.c", "memory.ld");
        assertThat(board.origin()).isEqualTo("com.acme:boards:1.2.0, sensor-v3/board.yaml");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../evil.c",
                "sensor-v3/../../evil.c",
                "/etc/evil.c",
                "sensor-v3//evil.c",
                "sensor-v3/.git",
                "C:/evil.c",
                "sensor-v3\\\\evil.c",
                "evil.c",
                "sensor-v3/\u001b[2J.c",
                "a/b/c/d/e/f/g/h/i.c"
            })
    void namesThatLeaveTheFolderAreRefused(String name) throws IOException {
        assertThat(refusal(zip(Map.of("sensor-v3/board.yaml", SENSOR, name, "x"))))
                .contains("the name is not that of a file of board profiles")
                .doesNotContain("\u001b");
        assertThat(folder.getParent().resolve("evil.c")).doesNotExist();
    }

    @Test
    void linksAreRefused() throws IOException {
        Path zip = folder.resolve("links.zip");
        try (ZipArchiveOutputStream out = new ZipArchiveOutputStream(zip)) {
            ZipArchiveEntry entry = new ZipArchiveEntry("sensor-v3/board.yaml");
            entry.setUnixMode(UnixStat.LINK_FLAG | 0777);
            out.putArchiveEntry(entry);
            out.write("/etc/passwd".getBytes(StandardCharsets.UTF_8));
            out.closeArchiveEntry();
        }
        assertThat(refusal(zip)).contains("the entry is a link").contains("sensor-v3/board.yaml");
    }

    @Test
    @Timeout(20)
    void whatWouldTakeMuchMemoryIsRefused() throws IOException {
        Path huge = folder.resolve("huge.zip");
        try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
            file.setLength(10L << 30);
        }
        assertThat(refusal(huge)).contains("the archive has 10737418240 bytes");

        Map<String, String> many = new LinkedHashMap<>();
        for (int i = 0; i < 3000; i++) {
            many.put("sensor-v3/f" + i + ".c", "");
        }
        assertThat(refusal(zip(many))).contains("too many entries");

        assertThat(refusal(zip(Map.of("sensor-v3/bomb.c", "0".repeat(2 << 20)))))
                .contains("is too large", "at most 1048576 bytes a file");
        assertThat(refusal(zip(Map.of("sensor-v3/device.svd", "0".repeat((16 << 20) + 1)))))
                .contains("is too large", "at most 16777216 bytes a file");
        Map<String, String> total = new LinkedHashMap<>();
        for (int i = 0; i < 33; i++) {
            total.put("sensor-v3/f" + i + ".c", "0".repeat(1 << 20));
        }
        assertThat(refusal(zip(total))).contains("is too large");
    }

    @Test
    void whatIsNoZipIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("no.zip"), "PK, nearly");
        assertThat(refusal(file)).contains("this is not a zip of board profiles");
    }

    @Test
    void scriptsThatReadEachOtherOverAndOverAreRefused() throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        files.put("sensor-v3/board.yaml", SENSOR);
        files.put("sensor-v3/memory.ld", "INCLUDE a0.ld\n".repeat(10));
        for (int i = 0; i < 12; i++) {
            files.put("sensor-v3/a" + i + ".ld", ("INCLUDE a" + (i + 1) + ".ld\n").repeat(10));
        }
        files.put("sensor-v3/a12.ld", "");
        assertThatThrownBy(() -> boards(files, Set.of()).find("sensor-v3"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a linker script that reads others more than 1000 times");
    }

    @Test
    void whatReachesThisComputerIsRefusedUntilTheBuildTrustsIt() throws IOException {
        Map<String, String> files = Map.of(
                "sensor-v3/board.yaml",
                SENSOR + "emulator: {qemu: qemu-system-arm, machine: netduinoplus2, args: [-bios, /etc/shadow]}\n"
                        + "sources: [startup.c, boot.S]\n"
                        + "flash: {openocd: {interface: interface/stlink.cfg, target: mine.cfg}}\n",
                "sensor-v3/boot.S",
                ".incbin \"/etc/passwd\"\n",
                "sensor-v3/memory.ld",
                "INPUT(/usr/lib/libc.a)\nINCLUDE ../../secret.ld\nINCLUDE sections.ld\n");
        KilnException refused = catchThrowableOfType(
                KilnException.class,
                () -> boards(files, Set.of("com.acme:boards:1.2.0:other")).find("sensor-v3"));
        assertThat(refused.problems()).allSatisfy(problem -> {
            assertThat(problem.what()).startsWith("refused in a profile from a repository");
            assertThat(problem.next()).contains("<trustBoard>com.acme:boards:1.2.0:sensor-v3</trustBoard>");
        });
        assertThat(refused.getMessage())
                .contains("board.yaml:5", "an emulator of its own")
                .contains("board.yaml:7", "Tcl of its own for OpenOCD")
                .contains("sensor-v3/boot.S: refused in a profile from a repository: an assembler source")
                .contains(
                        "sensor-v3/memory.ld:1",
                        "the linker command INPUT",
                        "sensor-v3/memory.ld:2",
                        "INCLUDE of a file outside the profile's linker scripts");

        for (String trusted : List.of("com.acme:boards", COORDINATES, COORDINATES + ":sensor-v3")) {
            assertThat(boards(files, Set.of(trusted))
                            .find("sensor-v3")
                            .openOcd()
                            .orElseThrow()
                            .targetConfig())
                    .isEqualTo("mine.cfg");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sensor-v3",
                "com.acme",
                "com.acme:board",
                "com.acme:boards:1",
                "com.acme:boards:1.2",
                "com.acme:boards:1.2.1",
                "com.acme:boards:1.2.0:sensor",
                "com.acme:boards:1.2.0:sensor-v3:x",
                "org.acme:boards",
                ":",
                "com.acme:",
                "*:*"
            })
    void trustIsForCoordinatesAndNothingElse(String trusted) throws IOException {
        Boards boards = boards(Map.of("sensor-v3/board.yaml", SENSOR), Set.of(trusted));
        Board board = boards.find("sensor-v3");
        assertThat(board.foreign()).isTrue();
        assertThat(board.trustAdvice())
                .isEqualTo("If you trust who wrote it: <trustBoard>com.acme:boards:1.2.0:sensor-v3</trustBoard>");
        assertThat(boards.coordinates("sensor-v3")).containsExactly("com.acme:boards:1.2.0:sensor-v3");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "interface/../../../tmp/x.cfg",
                "interface/..cfg",
                "interface/.hidden.cfg",
                "interface/x..cfg",
                "tools/x.cfg",
                "chip/x.cfg",
                "x.cfg",
                "interface.cfg",
                "target/a/b/c/d.cfg",
                "target/.cfg"
            })
    void onlyScriptsOfOpenOcdsOwnFoldersAreNamed(String script) throws IOException {
        String flash =
                "flash: {openocd: {interface: interface/ftdi/jtag-lock-pick_tiny_2.cfg, target: " + script + "}}\n";
        KilnException refused = catchThrowableOfType(
                KilnException.class,
                () -> boards(Map.of("sensor-v3/board.yaml", SENSOR + flash), Set.of())
                        .find("sensor-v3"));
        assertThat(refused).as(script).isNotNull();
        assertThat(refused.problems())
                .singleElement()
                .satisfies(problem -> assertThat(problem.where()).contains("board.yaml:5"));
    }

    @Test
    void whatNoProfileNeedsIsRefused() throws IOException {
        Boards boards = boards(
                Map.of(
                        "sensor-v3/board.yaml", SENSOR,
                        "sensor-v3/kiln_console.h.gch", "x",
                        "sensor-v3/target/stm32f4x.cfg", "exec evil",
                        "sensor-v3/helper.tcl", "exec evil"),
                Set.of());
        KilnException refused = catchThrowableOfType(KilnException.class, () -> boards.find("sensor-v3"));
        assertThat(refused.problems()).hasSize(3);
        assertThat(refused.getMessage())
                .contains("a file of a kind that profiles do not have", "sensor-v3/kiln_console.h.gch")
                .contains("Tcl of its own", "sensor-v3/target/stm32f4x.cfg", "sensor-v3/helper.tcl");
    }

    @Test
    void codeOfOthersRunsBehindAFenceAndNeverAsAProgramOfThisComputer() throws IOException {
        Boards inherits = boards(
                Map.of(
                        "sensor-v3/board.yaml", SENSOR,
                        "other/board.yaml", "schema: 1\nid: other\nextends: mps2-an386\n",
                        "here/board.yaml", "schema: 1\nid: here\nextends: host\n"),
                Set.of());
        Board standIn = inherits.emulated(inherits.find("sensor-v3")).orElseThrow();
        assertThat(standIn.id()).isEqualTo("mps2-an386");
        assertThat(fenced(standIn)).isTrue();
        assertThat(fenced(inherits.find("other"))).isTrue();
        assertThat(catchThrowableOfType(KilnException.class, () -> inherits.find("here")))
                .hasMessageContaining("code that runs on this computer")
                .hasMessageContaining("here/board.yaml:3");

        Boards trusted = boards(
                Map.of("here/board.yaml", "schema: 1\nid: here\nextends: host\n", "sensor-v3/board.yaml", SENSOR),
                Set.of(COORDINATES));
        assertThat(trusted.find("here").isHost()).isTrue();
        assertThat(fenced(trusted.emulated(trusted.find("sensor-v3")).orElseThrow()))
                .isFalse();
        assertThat(fenced(Boards.builtIn().find("mps2-an386"))).isFalse();
    }

    private static boolean fenced(Board board) {
        return ((Emulation.Qemu) board.emulation()).fenced();
    }

    @Test
    void aSecondProfileOfOneIdIsAmbiguousButAProjectsOwnWins() throws IOException {
        Boards boards = boards(
                Map.of(
                        "nucleo-f446re/board.yaml",
                        SENSOR.replace("sensor-v3", "nucleo-f446re")
                                .replace("extends: nucleo-f446re", "extends: stm32f4")),
                Set.of());
        KilnException refused = catchThrowableOfType(KilnException.class, () -> boards.find("nucleo-f446re"));
        assertThat(refused)
                .hasMessageContaining("there are 2 profiles nucleo-f446re")
                .hasMessageContaining(COORDINATES);

        Path own = Files.createDirectories(folder.resolve("boards/nucleo-f446re"));
        Files.writeString(own.resolve("board.yaml"), "schema: 1\nid: nucleo-f446re\nextends: mps2-an386\ntitle: Own\n");
        assertThat(boards.with(folder.resolve("boards")).find("nucleo-f446re").title())
                .isEqualTo("Own");
    }

    private Boards boards(Map<String, String> files, Set<String> trusted) throws IOException {
        return Boards.builtIn().with(zip(files), COORDINATES, trusted);
    }

    private Path zip(Map<String, String> files) throws IOException {
        return BoardZip.of(Files.createTempFile(folder, "boards", ".zip"), files);
    }

    private static String refusal(Path zip) {
        KilnException refused =
                catchThrowableOfType(KilnException.class, () -> Boards.builtIn().with(zip, COORDINATES, Set.of()));
        assertThat(refused).isNotNull();
        return refused.getMessage();
    }
}
