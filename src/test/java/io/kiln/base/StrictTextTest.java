// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StrictTextTest {
    /** What lies around the limits of each length of a character, of surrogates, and of U+10FFFF. */
    private static final int[] BYTES = {
        0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
        0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF
    };

    @Test
    void everyCombinationOfLimits() {
        for (int first : BYTES) {
            for (int second : BYTES) {
                for (int third : BYTES) {
                    for (int fourth : BYTES) {
                        agrees(new byte[] {(byte) first, (byte) second, (byte) third, (byte) fourth});
                    }
                    agrees(new byte[] {(byte) first, (byte) second, (byte) third});
                }
                agrees(new byte[] {(byte) first, (byte) second});
            }
            agrees(new byte[] {(byte) first});
        }
        agrees(new byte[0]);
    }

    @Test
    void randomTextAndBytes() {
        Random random = new Random(3);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = random.ints(random.nextInt(12), 0, Character.MAX_CODE_POINT + 1)
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString()
                    .getBytes(StandardCharsets.UTF_8);
            if (bytes.length > 0 && random.nextBoolean()) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            agrees(bytes);
        }
    }

    private static void agrees(byte[] bytes) {
        Bytes text = Bytes.wrap(bytes);
        boolean isText = isText(bytes);
        assertThat(StrictText.of(text).isPresent())
                .as("%s", Arrays.toString(bytes))
                .isEqualTo(isText);
        if (isText) {
            assertThat(StrictText.of(text)).contains(text.text());
        }
    }

    private static boolean isText(byte[] bytes) {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }
}
