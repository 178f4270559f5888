// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.mlperf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.device.mlperf.MlperfDevice.Inference;
import io.kiln.device.mlperf.MlperfDevice.Limits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MlperfDeviceTest {
    private static final Limits SHORT = new Limits(Duration.ofSeconds(5), Duration.ofSeconds(5));
    private static final String LAPS = "m-lap-us-10\r\nm-lap-us-30\r\nm-infer-done\r\n";

    private final List<String> log = new ArrayList<>();

    @Test
    void commandsAreThoseOfTheBenchmarksRunner() {
        ScriptedLine line = new ScriptedLine("noise\0 m-ready\r\nm-name-dut-[x]\r\nm-ready\r\n"
                + "m-ready\r\n".repeat(3) + LAPS + "m-results-[0.125, 0.5,0.25,]\r\nm-ready\r\n");
        try (MlperfDevice device = new MlperfDevice(line, SHORT, log::add)) {
            assertThat(device.name()).isEqualTo("x");
            device.load(new byte[32]);
            Inference inference = device.infer(4, 1);
            assertThat(inference.results()).containsExactly(0.125, 0.5, 0.25);
            assertThat(inference.largest()).isEqualTo(1);
            assertThat(inference.throughput()).isEqualTo(200_000);
        }
        assertThat(line.written.toString(StandardCharsets.US_ASCII))
                .isEqualTo("name%name%db load 32%db " + "00".repeat(31) + "%db 00%infer 4 1%");
        assertThat(log).contains("> db 00%", "< m-lap-us-30");
    }

    @ParameterizedTest
    @CsvSource({
        "'e-[Unknown command: infer]|m-ready|', it answered e-[Unknown command",
        "'Input db has 1 elemented, expected 490|m-ready|', it answered Input db",
        "'m-results-[0.1]|m-ready|', it gave no times",
        "'m-lap-us-1|m-lap-us-2|m-ready|', its answer is",
        "'m-lap-us-1|m-lap-us-2|m-results-[0.1,x]|m-ready|', a result is 'x'",
        "'m-lap-us-1|m-lap-us-2|m-results-[0.1,NaN]|m-ready|', a result is 'NaN'",
        "'m-lap-us-1|m-lap-us-2|m-results-[1e999]|m-ready|', a result is '1e999'",
        "'m-lap-us-1|', the line was closed"
    })
    void whatADeviceMayNotAnswerIsTold(String answer, String problem) {
        ScriptedLine line = new ScriptedLine(answer.replace("|", "\r\n"));
        try (MlperfDevice device = new MlperfDevice(line, SHORT, log::add)) {
            assertThatThrownBy(() -> device.infer(1, 0))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(problem);
        }
    }

    /** Its inputs lie in a folder that is called like it. */
    @ParameterizedTest
    @ValueSource(strings = {"..", "../kws01", "/etc", "C:"})
    void aBenchmarkIsNoPath(String benchmark) {
        ScriptedLine line = new ScriptedLine("m-model-[" + benchmark + "]\r\nm-ready\r\n");
        try (MlperfDevice device = new MlperfDevice(line, SHORT, log::add)) {
            assertThatThrownBy(device::benchmark)
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("its answer is [m-model-[" + benchmark + "]");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "x, 70000, a line is longer than 65536 characters",
        "'m-buffer|', 5000, its answer has more than 4096 lines"
    })
    void answersAreBounded(String piece, int times, String problem) {
        ScriptedLine line = new ScriptedLine(piece.replace("|", "\n").repeat(times));
        try (MlperfDevice device = new MlperfDevice(line, SHORT, log::add)) {
            assertThatThrownBy(() -> device.infer(1, 0))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(problem);
        }
    }
}
