// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.RunningProcess.LineSieve;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LineSieveTest {
    private final List<String> taken = new ArrayList<>();

    private String rest(String text) throws IOException {
        InputStream source = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        try (LineSieve sieve = new LineSieve(source, line -> line.startsWith("!") && taken.add(line))) {
            return new String(sieve.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void reportsAreTakenOutAndTheRestIsPassedOn() throws IOException {
        assertThat(rest("one\n!a\r\n\n!b\ntwö\n!last without an end")).isEqualTo("one\n\ntwö\n!last without an end");
        assertThat(taken).containsExactly("!a", "!b");
    }

    @Test
    void aLineWithoutEndIsNotKeptInMemory() throws IOException {
        String longLine = "!" + "x".repeat(200_000);
        assertThat(rest(longLine + "\n!short\n")).isEqualTo(longLine + "\n");
        assertThat(taken).containsExactly("!short");
    }
}
