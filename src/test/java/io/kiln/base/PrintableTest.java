// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {
    /** Escape sequences, the terminal's eight-bit controls, line ends of every kind, reordering and invisible letters, half a letter. */
    @ParameterizedTest
    @ValueSource(
            ints = {
                0, 7, 8, '\n', 11, 12, '\r', 0x1b, 0x7f, 0x85, 0x9b, 0xad, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028,
                0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x061c, 0xfeff,
                0xfff9, 0xe0041, 0xd800, 0xdfff, 0x034f, 0x115f, 0x1160, 0x17b4, 0x180b, 0x2065, 0x3164, 0xfe00, 0xfe0e,
                0xffa0, 0xfff0, 0xe0100, 0xe01ef, 0xe0fff
            })
    void whatActsOnATerminalIsShownAsItsCodePoint(int codePoint) {
        String text = "a" + Character.toString(codePoint) + "b";
        assertThat(Printable.line(text)).isEqualTo(String.format(Locale.ROOT, "a\\u%04xb", codePoint));
        assertThat(Printable.line(text).codePoints()).allMatch(Printable::isSafe);
    }

    @Test
    void lettersOfAllWritingsStay() {
        String text = "Größe 10 µs, 模型, עברית, 𝛼 → ½\tC:\\boards";
        assertThat(Printable.line(text)).isEqualTo(text);
        assertThat(Printable.lines(text)).isEqualTo(text);
    }

    @Test
    void textOfOthersIsBounded() {
        String name = "a".repeat(20_000) + "z";
        assertThat(Printable.line("tensor `" + name + "` is wrong"))
                .startsWith("tensor `aaa")
                .contains("characters")
                .endsWith("az` is wrong")
                .hasSizeLessThan(600);
        assertThat(Printable.line("a ".repeat(20_000))).hasSizeLessThan(4100).endsWith(" more characters");
        assertThat(Printable.line("\u001b".repeat(20_000))).hasSizeLessThan(2000);
        assertThat(Printable.lines(name + "\n" + name)).hasSizeLessThan(1200);
        assertThat(Failure.CONFIG.problem(name, name, name, name).text()).hasSizeLessThan(2000);
        assertThat(Failure.CONFIG
                        .problem("x:\n" + "line\n".repeat(20_000), "", "", "")
                        .text())
                .hasSizeLessThan(2000)
                .endsWith("\u2026 19801 more lines");
    }

    @Test
    void usualPathsAndDigestsAreWhole() {
        String path = "/home/somebody/" + "folder/".repeat(60) + "m.tflite";
        assertThat(Printable.line(path + " " + "0123456789abcdef".repeat(8)))
                .isEqualTo(path + " " + "0123456789abcdef".repeat(8));
    }

    @Test
    void noLineOfATextCanPassForALineOfTheLog() {
        assertThat(Printable.lines("x\r\n[INFO] BUILD SUCCESS\n\n\u001b[2K- y\r"))
                .isEqualTo("x\n    [INFO] BUILD SUCCESS\n\n    \\u001b[2K- y\\u000d");
        KilnException both = new KilnException(List.of(
                Failure.CONFIG.problem("bad title \"x\n[INFO] BUILD SUCCESS\u202e\"", "board.yaml\n:3"),
                Failure.CONFIG.problem("b", "", "c\n  - d", "e\u0007")));
        assertThat(both.getMessage()).isEqualTo("""
            2 problems:
              - board.yaml\\u000a:3: bad title "x
                [INFO] BUILD SUCCESS\\u202e"
              - b; expected c
                  - d
                e\\u0007.\
            """);
    }
}
