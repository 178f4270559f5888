// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.firmware.app.MlperfOptions;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every board that is built in has an image for runners of MLPerf Tiny: for times, and if it has a pin, for energy. */
class MeasuredBoardsTest {
    /** {@code nightly} takes all boards. */
    private static final List<String> ONE_OF_EACH_FAMILY =
            List.of("nucleo-l4r5zi", "nrf52840-dk", "raspberry-pi-pico", "hifive1-revb", "host");

    @TempDir
    private Path folder;

    @Test
    void everyBoardIsMeasured() {
        boolean isNight = System.getProperty("kiln.golden", "").equals("all");
        int pins = 0;
        for (String id : isNight ? Boards.builtIn().ids() : ONE_OF_EACH_FAMILY) {
            Board board = Boards.builtIn().find(id);
            if (isNight) {
                compile(board, "performance");
            }
            if (board.files().containsKey("kiln_pin.h")) {
                compile(board, "energy");
                pins++;
            } else {
                assertThatThrownBy(() -> compile(board, "energy"))
                        .isInstanceOf(KilnException.class)
                        .hasMessageContaining("has no pin");
            }
        }
        assertThat(pins).isGreaterThanOrEqualTo(ONE_OF_EACH_FAMILY.size() - 1);
    }

    /** Protocol, conversions and board beside an image whose application is small, too. */
    @Test
    void theProtocolIsSmall() {
        Image console = TestFirmware.build(TestFirmware.request("mps2-an386", "clang", folder), folder, Log.QUIET);
        Image measured = compile(TestFirmware.board("mps2-an386"), "performance");
        assertThat(measured.measurement().flash().total()
                        - console.measurement().flash().total())
                .isLessThan(4096);
        assertThat(measured.measurement().ram().total()
                        - console.measurement().ram().total())
                .isLessThan(600);
    }

    private Image compile(Board board, String mode) {
        Path place = folder.resolve(board.id() + "-" + mode);
        FirmwareRequest plain = TestFirmware.request(board.id(), board.isHost() ? "host" : "clang", place);
        ImageOptions options = new ImageOptions(
                Application.MLPERF_TINY,
                MlperfOptions.of(Optional.of("custom"), mode, Optional.empty(), Optional.empty()),
                TrustedArchives.NONE);
        FirmwareRequest.Content content = plain.content();
        FirmwareRequest measured = plain.with(new FirmwareRequest.Content(
                content.models(), content.code(), options, content.brought(), content.extra()));
        return TestFirmware.build(measured, place, Log.QUIET);
    }
}
