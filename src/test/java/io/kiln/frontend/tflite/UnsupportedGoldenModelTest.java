// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.reference.GoldenModels;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnsupportedGoldenModelTest {
    @ParameterizedTest
    @CsvSource({"trained_lstm_int8, 1, operator UNIDIRECTIONAL_SEQUENCE_LSTM version 1 is not supported"})
    void modelIsRefusedWithEveryReason(String model, int problems, String reason) {
        Path file = GoldenModels.model(model);
        KilnException e = catchThrowableOfType(KilnException.class, () -> TfliteFrontend.read(file, "default"));
        assertThat(e.problems()).hasSize(problems);
        assertThat(e.getMessage()).contains(reason);
    }
}
