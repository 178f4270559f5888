// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.BoardIdentity;
import io.kiln.toolchain.board.Board.BoardMemories;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.BoardSupport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TooBigTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"gnu", "clang"})
    void whatDoesNotFitFlashIsSaidInATable(String toolchain) {
        assertTooBig(toolchain, board(8 * 1024, 64 * 1024), 20_000)
                .hasMessageContaining("board small: the image does not fit")
                .hasMessageMatching("(?s).*code +2\\d,\\d{3} +8,192 +1\\d,\\d{3} too many.*")
                .hasMessageMatching("(?s).*sram +[45],\\d{3} +65,536\\n.*")
                .hasMessageContaining("20,0")
                .hasMessageContaining("256 workspace, 32 inputs and outputs of the default application, 4,128 stack")
                .hasMessageEndingWith("Take a smaller model or a board with more memory.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gnu", "clang"})
    void whatDoesNotFitRamIsSaidInATable(String toolchain) {
        assertTooBig(toolchain, board(64 * 1024, 4096 + 128), 1000)
                .hasMessageMatching("(?s).*sram +4,\\d{3} +4,224 +\\d{3} too many.*")
                .hasMessageEndingWith("Take a smaller model or a board with more memory.");
    }

    /** A script of sections with addresses has no memories that could be compared with the board's. */
    @Test
    void aSectionOutsideTheMemoriesIsNamed() {
        Board board = board(64 * 1024, 64 * 1024);
        SortedMap<String, Bytes> files = new TreeMap<>(board.files());
        String sections = files.get("sections.code.ld").text()
                + files.get("sections.data.ld").text().replace(".stack (", ".stack 0x30000000 (");
        files.put(
                "memory.ld",
                Bytes.ofText(sections.replaceAll("(AT )?> (CODE|CONSTANTS|DATA)", "")
                        .replace("ORIGIN(DATA) + LENGTH(DATA)", "0x30010000")));
        assertTooBig("gnu", with(board, files), 1000)
                .hasMessageContaining(
                        "the section .stack of 4,128 bytes lies at 0x30000000, where the board has no memory");
    }

    private static Board with(Board board, SortedMap<String, Bytes> files) {
        BoardSupport support = new BoardSupport(
                board.sources(), board.linker(), files, board.untrusted(), board.foreignFiles(), Optional.empty());
        return new Board(
                board.identity(), board.target(), board.memoryMap(), support, board.hardware(), board.building());
    }

    private org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable> assertTooBig(
            String toolchain, Board board, int tableBytes) {
        FirmwareRequest request = TestFirmware.request(
                board, toolchain, Optimize.SPEED, List.of(TestFirmware.model("default", tableBytes)), folder);
        var thrown = assertThatThrownBy(() -> TestFirmware.build(request, folder, Log.QUIET))
                .isInstanceOf(KilnException.class);
        assertThat(folder.resolve("target/app.elf")).doesNotExist();
        assertThat(folder.resolve("target/app.hex")).doesNotExist();
        assertThat(Files.exists(folder.resolve("target/kiln/build/link.log"))).isTrue();
        return thrown;
    }

    /** The default board with less memory. */
    private static Board board(long flash, long ram) {
        Board board = TestFirmware.board("mps2-an386");
        SortedMap<String, Bytes> files = new TreeMap<>(board.files());
        String script = files.get("memories.ld").text();
        files.put("memories.ld", Bytes.ofText(lengths(script, flash, ram)));
        List<Memory> memories = board.memories().stream()
                .map(m -> new Memory(m.name(), m.kind(), m.base(), m.kind() == Board.Kind.ROM ? flash : ram))
                .toList();
        BoardSupport support = new BoardSupport(
                board.sources(), board.linker(), files, board.untrusted(), board.foreignFiles(), Optional.empty());
        return new Board(
                new BoardIdentity("small", board.title(), board.maker(), board.origin()),
                board.target(),
                new BoardMemories(memories, board.pools()),
                support,
                board.hardware(),
                board.building());
    }

    private static String lengths(String script, long flash, long ram) {
        String changed =
                script.replaceFirst("LENGTH = 4M", "LENGTH = " + flash).replaceFirst("LENGTH = 4M", "LENGTH = " + ram);
        assertThat(changed).contains("LENGTH = " + flash).contains("LENGTH = " + ram);
        return changed;
    }
}
