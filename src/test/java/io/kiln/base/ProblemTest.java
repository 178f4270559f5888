// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ProblemTest {
    private static final List<String> ENDS =
            List.of("", ".", "..", "...", "?", "!", "…", ":", ": ", ";", ",", ".\n", " ", "?.", "…?.", ".:");
    private static final List<String> PLACE_ENDS = List.of("", ".", "..", ":", ": ", ";", ",", ".\n", " ", ".:");

    @Test
    void aMessageOfManyLongProblemsIsBounded() {
        List<Problem> many = IntStream.range(0, 1000)
                .mapToObj(i -> Failure.CONFIG.problem("word ".repeat(500) + i, "m.relay"))
                .toList();
        String message = new KilnException(many).getMessage();
        assertThat(message).startsWith("1000 problems:").hasSizeBetween(250_000, 264_000);
        assertThat(message).matches("(?s).*\u2026 [0-9]+ more problems");
    }

    @Test
    void problemsThatDifferByTheirPlacesAloneAreOneLine() {
        List<Problem> many = IntStream.range(0, 60)
                .mapToObj(i -> Failure.VERIFY.problem("40 bytes", "in" + i + ".bin", "49", ""))
                .toList();
        assertThat(new KilnException(many).getMessage())
                .isEqualTo("in0.bin: 40 bytes; expected 49. The same at 59 more places, the last is in59.bin.");
        List<Problem> mixed = new ArrayList<>(many);
        mixed.add(1, Failure.VERIFY.problem("empty", "a.bin", "", ""));
        assertThat(new KilnException(mixed).getMessage().lines())
                .containsExactly(
                        "61 problems:",
                        "  - in0.bin: 40 bytes; expected 49. The same at 59 more places, the last is in59.bin.",
                        "  - a.bin: empty.");
        assertThat(new KilnException(many.subList(0, 3)).getMessage().lines()).hasSize(4);
    }

    @Test
    void whateverThePartsEndWithOneMarkStandsBetweenThem() {
        for (String what : ENDS) {
            for (String where : PLACE_ENDS) {
                for (String expected : ENDS) {
                    for (String next : ENDS) {
                        Problem problem = Failure.CONFIG.problem(
                                "it broke" + what, "a.c" + where, "a part" + expected, "Try it" + next);
                        String text = problem.text().replace("...", "…");
                        assertThat(text)
                                .startsWith("a.c")
                                .contains("it broke", "a part", "Try it")
                                .doesNotContainPattern("[.?!…:;,][.:;,]|\\s[.:;,]|\\s\\s|:$|;$|,$|\\s$")
                                .matches("(?s).*[.?!…]");
                    }
                }
            }
        }
    }

    @Test
    void aPartThatIsLeftOutLeavesNoMark() {
        assertThat(Failure.CONFIG.problem("it broke", "", "", "").text()).isEqualTo("it broke.");
        assertThat(Failure.CONFIG.problem("it broke", "a.c", "", "").text()).isEqualTo("a.c: it broke.");
        assertThat(Failure.CONFIG.problem("it broke", "", "a part", "").text()).isEqualTo("it broke; expected a part.");
        assertThat(Failure.CONFIG.problem("it broke", "", "", "Try it").text()).isEqualTo("it broke. Try it.");
        assertThat(Failure.CONFIG.problem("which one?", "", "a part", "").text())
                .isEqualTo("which one? Expected a part.");
    }

    @Test
    void pathsOfDotsStayWhole() {
        assertThat(Failure.CONFIG.problem("it broke", "..", "", "").text()).isEqualTo("..: it broke.");
        assertThat(Failure.CONFIG.problem("it broke", "../..", "", "").text()).isEqualTo("../..: it broke.");
        assertThat(Failure.CONFIG.problem("it broke", ".", "", "").text()).isEqualTo(".: it broke.");
    }

    @Test
    void whatAToolPrintedKeepsItsLines() {
        assertThat(Failure.CONFIG
                        .problem("does not link:\nld: no main.\n", "a.elf", "a main", "Write one")
                        .text())
                .isEqualTo("a.elf: does not link:\n    ld: no main\n    Expected a main.\n    Write one.");
        assertThat(Failure.CONFIG
                        .problem("does not link:\nld: no main", "a.elf", "", "")
                        .text())
                .isEqualTo("a.elf: does not link:\n    ld: no main");
    }
}
