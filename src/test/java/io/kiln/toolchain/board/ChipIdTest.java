// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.toolchain.board.Flashing.ChipId;
import io.kiln.toolchain.board.Flashing.OpenOcd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code flash.openocd.chipId}: by what a chip is told from its relatives. */
final class ChipIdTest {
    /** No word of theirs is known for certain; their target scripts tell other chips by the debug port's id. */
    private static final List<String> WITHOUT = List.of("microbit", "hifive1-revb");

    @TempDir
    private Path boards;

    private Board with(String chipId) throws IOException {
        Files.createDirectories(boards.resolve("mine"));
        Files.writeString(boards.resolve("mine").resolve("board.yaml"), String.format(Locale.ROOT, """
            schema: 1
            id: mine
            title: Mine
            extends: stm32f405
            flash:
              openocd: {interface: interface/stlink.cfg, target: target/stm32f4x.cfg, chipId: %s}
            """, chipId));
        return Boards.builtIn().with(boards).find("mine");
    }

    @Test
    void boardsThatAreFlashedAskForTheirChip() {
        Boards all = Boards.builtIn();
        for (String id : all.ids()) {
            all.find(id)
                    .openOcd()
                    .map(OpenOcd::chipId)
                    .ifPresent(chip -> assertThat(chip.isPresent()).as(id).isEqualTo(!WITHOUT.contains(id)));
        }
        assertThat(all.find("stm32f405").openOcd().orElseThrow().chipId())
                .contains(new ChipId(0xe0042000L, 0xfff, 0x413));
    }

    @Test
    void withoutAMaskAllBitsCount() throws IOException {
        assertThat(with("{address: 0x10000100, value: 0x52840}")
                        .openOcd()
                        .orElseThrow()
                        .chipId())
                .contains(new ChipId(0x10000100, 0xffffffffL, 0x52840));
    }

    @Test
    void aValueThatTheWordCannotHaveIsRefused() {
        assertThatThrownBy(() -> with("{address: 0xE0042000, mask: 0xFFF, value: 0x10006413}"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("0x10006413 has bits outside its mask 0x00000fff")
                .hasMessageContaining("board.yaml:6");
    }

    @Test
    void halfAWordOrAnIncompleteIdIsRefused() {
        assertThatThrownBy(() -> with("{address: 0xE0042002, value: 1}")).hasMessageContaining("board.yaml:6");
        assertThatThrownBy(() -> with("{address: 0xE0042000}")).hasMessageContaining("value");
        assertThatThrownBy(() -> with("{address: 0xE0042000, mask: 0, value: 0}"))
                .hasMessageContaining("board.yaml:6");
    }
}
