// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What board.yaml says of a timer is what the board's C counts by. */
class BoardTimersTest {
    private static final Pattern CLOCK = Pattern.compile("#define KILN_(?:CORE|TIMER)_CLOCK (\\w+?)u?\\s");

    /** Boards whose counter has a clock of its own are held against QEMU; these can only be read. */
    @ParameterizedTest
    @CsvSource({
        "b-u585i-iot02a, 160000000",
        "nucleo-f746zg, 180000000",
        "nucleo-h743zi, 400000000",
        "nucleo-l4r5zi, 120000000",
        "nucleo-f446re, 168000000",
        "stm32f4-discovery, 168000000",
        "stm32f405, 16000000",
        "hifive1-revb, 16000000",
        "mps3-an547, 32000000",
    })
    void theCodeCountsByTheClockThatTheProfileStates(String id, long hertz) {
        Board board = Boards.builtIn().find(id);
        assertThat(board.timer().orElseThrow().hertz()).isEqualTo(hertz);
        assertThat(board.sources()).contains("timer.c");
        assertThat(clock(board)).contains(Long.toString(hertz));
        boolean isCoreClock = board.files().get("kiln_settings.h").text().contains("#define KILN_CORE_CLOCK ");
        assertThat(board.timer().orElseThrow().countsCycles()).isEqualTo(isCoreClock);
    }

    private static Optional<String> clock(Board board) {
        String text =
                board.files().getOrDefault("kiln_board.h", Bytes.ofText("")).text()
                        + board.files().get("kiln_settings.h").text();
        Matcher matcher = CLOCK.matcher(text);
        return matcher.find() ? Optional.of(resolved(text, matcher.group(1))) : Optional.empty();
    }

    /** A macro's number, if the clock is named by another macro. */
    private static String resolved(String text, String value) {
        Matcher other = Pattern.compile("#define " + value + " (\\d+)u").matcher(text);
        return other.find() ? other.group(1) : value;
    }
}
