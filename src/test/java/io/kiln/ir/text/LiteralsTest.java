// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LiteralsTest {
    @ParameterizedTest
    @CsvSource({
        "0.5, 0.5f",
        "-128, -128f",
        "0.1, 0.1f",
        "0.00390625, 0.00390625f",
        "0.0582336, 0.0582336f",
        "1e-6, 1e-06f",
        "1.5e-20, 1.5e-20f",
        "123456, 123456f",
        "3.4028235e38, 3.4028234663852886e+38f",
        "1.4e-45, 1e-45f",
        "2e-45, 1e-45f",
        "33554432, 33554432f",
        "-0.0, -0f",
        "0, 0f"
    })
    void floatsAreShort(float value, String text) {
        assertThat(Literals.of(value)).isEqualTo(text);
    }

    @Test
    void everyFloatReadsBackAndNoneIsLongerThanNineDigits() {
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            float value = i < 254 ? Float.intBitsToFloat((i + 1) << 23) : Float.intBitsToFloat(random.nextInt());
            if (Float.isFinite(value)) {
                String text = Literals.of(value);
                assertThat(text).endsWith("f");
                String number = text.substring(0, text.length() - 1);
                assertThat(Float.floatToRawIntBits(Float.parseFloat(number)))
                        .as(text)
                        .isEqualTo(Float.floatToRawIntBits(value));
                assertThat(number.replaceAll("e.*|[-.]", "")
                                .replaceAll("^0+", "")
                                .length())
                        .as(text)
                        .isLessThanOrEqualTo(Math.abs(value) >= 1e9 && Math.abs(value) < 1e10 ? 10 : 9);
            }
        }
    }

    @Test
    void doublesSayTheirWidth() {
        assertThat(Literals.of(0.1)).isEqualTo("0.1f64");
        assertThat(Literals.of(0.25)).isEqualTo("0.25f");
        assertThat(Literals.of(Math.PI)).isEqualTo("3.141592653589793f64");
    }

    @Test
    void textFromAModelCannotLeaveItsCommentOrItsQuotes() {
        assertThat(Literals.quoted("a\"b\\c\nd\u0001")).isEqualTo("\"a\\x22b\\\\c\\nd\\x01\"");
        assertThat(Literals.inComment("x*/y/*z\nw/*/")).doesNotContain("*/", "/*", "\n");
    }
}
