// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.Board.BoardIdentity;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The built-in boards. */
class BoardsTest {
    @Test
    void everyBuiltInBoardIsSound() {
        Boards all = Boards.builtIn();
        assertThat(all.ids()).contains("host", "mps2-an386").doesNotContain("common", "cortex-m", "mps2");
        for (String id : all.ids()) {
            Board board = all.find(id);
            assertThat(board.files())
                    .containsKeys("board.yaml", "README.md")
                    .containsKeys(board.sources().toArray(String[]::new));
            assertThat(all.emulated(board)).isPresent();
        }
    }

    /** Builds rely on it: they check only other profiles. */
    @Test
    void builtInProfilesSatisfyTheSchema() {
        YamlSchema schema = new YamlSchema("board.schema.json");
        BoardFiles profiles = BoardFiles.BuiltIn.load();
        Problems problems = new Problems(Failure.BOARD);
        for (String id : profiles.ids()) {
            schema.check(YamlDocument.parse(id, profiles.read(id).orElseThrow().get(BoardFiles.DESCRIPTOR)), problems);
        }
        assertThat(profiles.ids()).contains("common", "mps2-an386");
        assertThat(problems.list()).isEmpty();
    }

    @Test
    void aBoardInheritsSettingsAndFiles() {
        Board board = Boards.builtIn().find("mps2-an386");
        assertThat(board.files()).containsKeys("startup.c", "sections.ld", "memory.ld", "kiln_console.h");
        assertThat(board.console()).contains(new Board.Console("UART0", 115200));
        assertThat(board.targetOption("mcpu")).contains("cortex-m4");
        assertThat(board.emulation()).isEqualTo(new Emulation.Qemu("qemu-system-arm", "mps2-an386", List.of()));
        assertThat(board.workspace().orElseThrow().size()).isEqualTo(4 << 20);
    }

    @Test
    void aBoardSaysWhoMakesItHowFastItsMemoriesAreAndWhatShowsItsConsole() {
        Board board = Boards.builtIn().find("nucleo-h743zi");
        assertThat(board.maker().vendor()).contains("STMicroelectronics");
        assertThat(board.maker().url().orElseThrow()).startsWith("https://www.st.com/");
        assertThat(board.memory("dtcm").orElseThrow().speed()).isEqualTo(Board.Speed.FAST);
        assertThat(board.memory("flash").orElseThrow().speed()).isEqualTo(Board.Speed.NORMAL);
        assertThat(board.console().orElseThrow().usb()).contains("0483:374b");
        assertThat(Boards.builtIn().find("mps2-an386").maker()).isEqualTo(BoardIdentity.Maker.UNKNOWN);
    }

    @Test
    void aBoardBehindAVirtualProbeNamesNoInterface() {
        Flashing.OpenOcd flash =
                Boards.builtIn().find("virtual-stm32f405").openOcd().orElseThrow();
        assertThat(flash.isVirtual()).isTrue();
        assertThat(flash.targetConfig()).isEqualTo("target/stm32f4x.cfg");
        assertThat(Boards.builtIn().find("stm32f405").openOcd().orElseThrow().isVirtual())
                .isFalse();
    }

    @Test
    void anUnknownBoardIsAnsweredWithThoseThatAreNear() {
        assertThatThrownBy(() -> Boards.builtIn().find("mps2-an368"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no board mps2-an368")
                .hasMessageContaining("Did you mean")
                .hasMessageContaining("mps2-an386");
    }
}
