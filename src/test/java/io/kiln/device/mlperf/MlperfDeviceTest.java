// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.mlperf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.device.mlperf.MlperfDevice.Limits;
import io.kiln.device.transport.Transport;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MlperfDeviceTest {
    private static final Limits SHORT = new Limits(Duration.ofSeconds(5), Duration.ofSeconds(5));
    private static final String LAPS = "m-lap-us-10\r\nm-lap-us-30\r\nm-infer-done\r\n";

    private final List<String> log = new ArrayList<>();

    @Test
    void commandsAreThoseOfTheBenchmarksRunner() {
        Scripted line = new Scripted("noise\0 m-ready\r\nm-name-dut-[x]\r\nm-ready\r\n" + "m-ready\r\n".repeat(3) + LAPS
                + "m-results-[0.125, 0.5,0.25,]\r\nm-ready\r\n");
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
        "'m-lap-us-1|', the line was closed"
    })
    void whatADeviceMayNotAnswerIsTold(String answer, String problem) {
        Scripted line = new Scripted(answer.replace("|", "\r\n"));
        try (MlperfDevice device = new MlperfDevice(line, SHORT, log::add)) {
            assertThatThrownBy(() -> device.infer(1, 0))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(problem);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "x, 70000, a line is longer than 65536 characters",
        "'m-buffer|', 5000, its answer has more than 4096 lines"
    })
    void answersAreBounded(String piece, int times, String problem) {
        Scripted line = new Scripted(piece.replace("|", "\n").repeat(times));
        try (MlperfDevice device = new MlperfDevice(line, SHORT, log::add)) {
            assertThatThrownBy(() -> device.infer(1, 0))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(problem);
        }
    }

    /** A device that says all that it will say at once. */
    private static final class Scripted implements Transport {
        private final InputStream said;
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();

        Scripted(String said) {
            this.said = new ByteArrayInputStream(said.getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public InputStream input() {
            return said;
        }

        @Override
        public OutputStream output() {
            return written;
        }

        @Override
        public boolean ownsProgram() {
            return false;
        }

        @Override
        public KilnException explained(KilnException failure) {
            return failure;
        }

        @Override
        public void close() {}
    }
}
