// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlottedFirmwareTest {
    @TempDir
    private Path folder;

    /** Nothing is compiled before. */
    private List<Problem> problems(Board board, String firmware) {
        FirmwareRequest plain = TestFirmware.request(
                board, "clang", Optimize.SPEED, List.of(TestFirmware.model("default", 3)), folder.resolve("project"));
        SlotRequest slots = new SlotRequest(
                TestKeys.key(folder, 1),
                new UpdateVersion(1, 0, 0),
                UpdateVersion.parse(firmware, ""),
                new UpdateVersion(1, 0, 0));
        List<Problem> problems = catchThrowableOfType(
                        KilnException.class, () -> SlottedFirmware.of(plain, slots, folder.resolve("slots")))
                .problems();
        assertThat(folder.resolve("slots")).doesNotExist();
        return problems;
    }

    @Test
    void allThatSlotsNeedIsNamedAtOnce() {
        assertThat(problems(TestFirmware.board("microbit"), "0.9"))
                .extracting(Problem::what)
                .containsExactly(
                        "the board microbit has no slots for models",
                        "kiln.update.minimumFirmware is 1.0.0, above this firmware's version 0.9.0");
    }

    /** The header of a region has room for 31 letters and the zero behind them. */
    @Test
    void aBoardWhoseIdDoesNotFitInAHeaderIsRefused() {
        String id = "board-with-a-name-of-32-letters-";
        Path boards = folder.resolve("boards");
        WholeFiles.write(
                boards.resolve(id).resolve("board.yaml"), "schema: 1\nid: " + id + "\nextends: mps2-an386\n");
        assertThat(problems(Boards.builtIn().with(boards).find(id), "1"))
                .extracting(Problem::what)
                .containsExactly("the board's id " + id + " has 32 letters");
    }
}
