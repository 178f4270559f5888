// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.frontend.TfliteRounding;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReadOptionsTest {
    @Test
    void aRoundingIsOneOfTwo() {
        assertThat(ReadOptions.DEFAULT.rounding()).isEqualTo(TfliteRounding.MICRO);
        assertThat(reading("lite").rounding()).isEqualTo(TfliteRounding.LITE);
        assertThatThrownBy(() -> reading("Lite"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.tflite.rounding is 'Lite'")
                .hasMessageContaining("micro or lite");
    }

    @Test
    void anotherRoundingIsNotTheSameBuild() {
        assertThat(fingerprint("micro")).isEqualTo(fingerprint("micro")).isNotEqualTo(fingerprint("lite"));
    }

    private static ReadOptions reading(String rounding) {
        return ReadOptions.parse("model", rounding, Optional.empty(), Optional.empty());
    }

    private static Map<String, String> fingerprint(String rounding) {
        return Fingerprint.of("generate")
                .value("", CompileOptions.DEFAULT.with(reading(rounding)))
                .parts();
    }
}
