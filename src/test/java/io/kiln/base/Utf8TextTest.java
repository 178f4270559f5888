// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class Utf8TextTest {
    private static final String TEXT = "Temperatur 21 °C, gr\u00f6\u00dfer als \u20ac 5 \uD83D\uDE80 fertig";

    @Test
    void charactersAreWholeWhereverTheBytesComeApart() {
        byte[] bytes = TEXT.getBytes(StandardCharsets.UTF_8);
        for (int size = 1; size <= 5; size++) {
            Utf8Text text = new Utf8Text();
            StringBuilder got = new StringBuilder();
            for (int from = 0; from < bytes.length; from += size) {
                got.append(text.accept(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + size))));
            }
            assertThat(got.append(text.end()).toString())
                    .as("pieces of " + size)
                    .isEqualTo(TEXT);
        }
    }

    @Test
    void nothingWholeIsHeldBack() {
        Utf8Text text = new Utf8Text();
        assertThat(text.accept(new byte[] {'a', (byte) 0xc3})).isEqualTo("a");
        assertThat(text.accept(new byte[] {(byte) 0xb6})).isEqualTo("ö");
        assertThat(text.end()).isEmpty();
    }

    @Test
    void whatIsNotUtf8IsMarkedAndReadingGoesOn() {
        Utf8Text text = new Utf8Text();
        assertThat(text.accept(new byte[] {(byte) 0xff, 'a', (byte) 0xe2, (byte) 0x82}))
                .isEqualTo("\uFFFDa");
        assertThat(text.accept(new byte[] {'b'})).isEqualTo("\uFFFDb");
        assertThat(text.accept(new byte[] {(byte) 0xf0})).isEmpty();
        assertThat(text.end()).isEqualTo("\uFFFD");
        assertThat(text.accept(new byte[] {'c'})).isEqualTo("c");
    }
}
