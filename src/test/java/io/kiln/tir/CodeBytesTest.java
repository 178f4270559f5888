// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CodeBytesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ldr r4, [r0, #124]|2",
                "ldr r4, [r0, #128]|4",
                "ldr r4, [r0]|2",
                "ldr r10, [r0]|4",
                "str r4, [sp, #1020]|2",
                "ldr r4, [r0], #4|4",
                "smlad r2, r4, r6, r2|4",
                "mov r4, sp|2",
                "mov r4, #0|4",
                "movs r4, #4|2",
                "subs r5, #1|2",
                "subs r4, r4, r5|2",
                "cmp r0, r12|2",
                "cmp r0, #255|2",
                "add r4, r0|2",
                "add r0, #8|4",
                "add sp, #20|2",
                "push {r0-r4}|2",
                "push {r4-r11, lr}|4",
                "ldm r1!, {r4, r5}|4",
                "3:|0",
                "bne 3b|4",
            })
    void anInstructionThatIsNotSurelyNarrowCountsAsWide(String instruction, int bytes) {
        assertThat(CodeBytes.assembly(List.of(instruction))).isEqualTo(bytes);
    }

    @Test
    void offsetsGrowFromRepetitionToRepetition() {
        assertThat(CodeBytes.assembly(List.of(
                        ".set .Lkiln_at, 100",
                        ".rept 4",
                        "ldr r4, [r0, #.Lkiln_at]",
                        "ldr r5, [r1, #(.Lkiln_at / 2) * 2 - 96]",
                        ".set .Lkiln_at, .Lkiln_at + 8",
                        ".endr",
                        "ldr r6, [r0, #.Lkiln_at - 8]",
                        "ldr r6, [r0, #.Lkiln_at - 70]")))
                .isEqualTo(4 * 2 + 4 * 2 + 2 + 4);
    }

    @Test
    void statementsInCCountTooAndTwinsDoNot() {
        String text = """
                #if X
                static void f(void) {
                  int a = 1;
                  int b = 2;
                  __asm__(
                      "smlad r0, r1, r2, r3\\n"
                  );
                }
                #else
                int c;
                #endif
                """;
        assertThat(CodeBytes.of(new Kernel("f", List.of(), List.of(), List.of(), text, List.of())))
                .isEqualTo(3 * 4 + 4);
        String naked = text.replace("static", "__attribute__((naked)) static");
        assertThat(CodeBytes.of(new Kernel("f", List.of(), List.of(), List.of(), naked, List.of())))
                .isEqualTo(4);
    }
}
