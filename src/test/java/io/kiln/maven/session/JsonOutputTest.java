// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class JsonOutputTest {
    @Test
    void jsonIsInUtf8WhateverTheTerminalsEncodingIs() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        JsonOutput.print(Map.of("title", "Grüße"), new PrintStream(bytes, false, StandardCharsets.US_ASCII));
        assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo("{\n  \"title\" : \"Grüße\"\n}\n");
    }
}
