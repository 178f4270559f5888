// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Vectors from Python's {@code base64.b85encode}. */
final class Base85Test {
    @ParameterizedTest
    @CsvSource({
        "'', ''",
        "00, 00",
        "61, VE",
        "6162, VPX",
        "616263, VPaz",
        "61626364, VPa!s",
        "00000000, 00000",
        "ffffffffff, |NsC0{{",
        "68656c6c6f20776f726c64, Xk~0{Zy<MXa%^M",
        "000f1e2d3c4b5a69788796a5b4c3d2e1f0ff, 01qB5JWE<>c!!pyw8PTj@c#",
        "e4607d7b7e, <Y0Y!eg"
    })
    void isWrittenAndReadAsByPython(String hex, String text) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertThat(Base85.encode(bytes)).isEqualTo(text);
        assertThat(Base85.decode(text)).isEqualTo(bytes);
    }

    @Test
    void everyLengthComesBack() {
        Random random = new Random(85);
        for (int length = 0; length < 70; length++) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            assertThat(Base85.decode(Base85.encode(bytes))).isEqualTo(bytes);
        }
    }

    @Test
    void strangeCharactersAndGroupsTooLargeAreRefused() {
        assertThatThrownBy(() -> Base85.decode("00000 0000"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("character 6");
        assertThatThrownBy(() -> Base85.decode("00000|NsC1"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("from 6 on are above 2^32 - 1");
        assertThat(Base85.decode("|NsC0")).isEqualTo("\u00ff\u00ff\u00ff\u00ff".getBytes(StandardCharsets.ISO_8859_1));
    }
}
