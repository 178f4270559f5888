// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KilnException;
import io.kiln.device.projectapi.LineReader.Ending;
import io.kiln.device.projectapi.LineReader.Line;
import io.kiln.device.transport.TimedInput;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Lines, requests and replies, case by case. */
final class MessageTest {
    private static final long NEVER = 1L << 60;

    private static Stream<JsonNode> cases(String name) throws IOException {
        try (InputStream file = MessageTest.class.getResourceAsStream("messages.json")) {
            return StreamSupport.stream(
                    new ObjectMapper().readTree(file).get(name).spliterator(), false);
        }
    }

    static Stream<JsonNode> requests() throws IOException {
        return cases("requests");
    }

    static Stream<JsonNode> replies() throws IOException {
        return cases("replies");
    }

    @ParameterizedTest
    @MethodSource("requests")
    void aRequestIsOneLine(JsonNode request) {
        String line = Message.request(
                request.get("method").textValue(),
                request.get("params"),
                request.get("id").intValue());
        assertThat(line).isEqualTo(request.get("line").textValue()).doesNotContain("\n");
    }

    @ParameterizedTest
    @MethodSource("replies")
    void aReplyIsAResultOrAnError(JsonNode reply) {
        String line = reply.get("line").textValue();
        int id = reply.get("id").intValue();
        if (reply.has("says")) {
            assertThatThrownBy(() -> Message.result(line, id))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(reply.get("says").textValue())
                    .satisfies(e -> assertThat(e instanceof MethodFailure).isEqualTo(reply.has("code")))
                    .satisfies(e -> assertThat(e instanceof MethodFailure failure ? failure.code() : 0)
                            .isEqualTo(reply.path("code").intValue()));
        } else {
            assertThat(Message.result(line, id)).isEqualTo(reply.get("result"));
        }
    }

    @Test
    void linesHaveALimitAndEnd() {
        LineReader lines = reader("ab\n\n\u20ac\nabcd", StandardCharsets.UTF_8);
        assertThat(lines.next(deadline())).isEqualTo(new Line(Ending.COMPLETE, "ab"));
        assertThat(lines.next(deadline())).isEqualTo(new Line(Ending.COMPLETE, ""));
        assertThat(lines.next(deadline())).isEqualTo(new Line(Ending.COMPLETE, "\u20ac"));
        assertThat(lines.next(deadline()).ending()).isEqualTo(Ending.END);
        assertThat(reader("abcde\n", StandardCharsets.UTF_8).next(deadline()).ending())
                .isEqualTo(Ending.TOO_LONG);
        assertThat(reader("\u00e4\n", StandardCharsets.ISO_8859_1)
                        .next(deadline())
                        .ending())
                .isEqualTo(Ending.NOT_UTF8);
    }

    private static LineReader reader(String text, Charset charset) {
        byte[] bytes = text.getBytes(charset);
        return new LineReader(new TimedInput(new ByteArrayInputStream(bytes)), 4);
    }

    private static long deadline() {
        return System.nanoTime() + NEVER;
    }
}
