// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.farm.link.AmqpMessages.Malformed;
import io.kiln.farm.link.FarmMessage.Manner;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.qpid.protonj2.buffer.ProtonBuffer;
import org.apache.qpid.protonj2.client.AdvancedMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is read is what was written, and nothing else is read. */
final class AmqpMessagesTest {
    private static final FarmMessage JOB = new FarmMessage(
            Map.of(FarmQueues.JOB, "1", FarmQueues.PROJECT, "x".repeat(80)),
            Bytes.ofText("content ".repeat(50)),
            Manner.once("1", Duration.ofMinutes(5)).at(7));

    /** As the client writes it. */
    private static byte[] written(FarmMessage message) throws Exception {
        AdvancedMessage<byte[]> out = AmqpMessages.of(message).toAdvancedMessage();
        ProtonBuffer encoded = out.encode(Map.of());
        byte[] raw = new byte[encoded.getReadableBytes()];
        encoded.readBytes(raw, 0, raw.length);
        return raw;
    }

    @Test
    void a_message_is_read_as_it_was_written() throws Exception {
        AmqpMessages.Read read = AmqpMessages.read(written(JOB));
        assertThat(read.tries()).isZero();
        assertThat(read.message().properties()).isEqualTo(JOB.properties());
        assertThat(read.message().body()).isEqualTo(JOB.body());
        assertThat(read.message().manner()).isEqualTo(new Manner(true, Optional.empty(), Optional.empty(), 7));
    }

    /** The first two would be arrays of a thousand million elements to a decoder that believes what they say. */
    @ParameterizedTest
    @CsvSource({
        "0053 74 c1 10 02 a1 03 6a6f62 f0 00000009 40000000 41, no text",
        "0053 74 d1 00000013 00000002 a1 03 6a6f62 f0 00000009 40000000 45, no text",
        "0053 74 d1 7fffffff 00000002, malformed",
        "0053 74 d1 ffffffff 00000002, malformed",
        "0053 74 d1 00000004 7fffffff, properties",
        "0053 74 c1 05 02 a1 01 78 40, a property that farms do not have",
        "0053 70 c0 03 01 d1 00, other types",
        "0053 75 b0 7fffffff 00, malformed",
        "0053 75 b0 ffffffff 00, malformed",
        "0053 75 a0 00 0053 75 a0 00, another order",
        "0053 75 a0 00 0053 70 45, another order",
        "0053 77 a1 01 78, other sections",
        "0053 76 45, other sections",
        "00a3 05 616d717073 45, other sections",
        "0080 ffffffffffffff70 45, other sections",
        "0053 70 45, without data",
        "'', without data"
    })
    void other_forms_are_refused(String hex, String why) {
        byte[] raw = HexFormat.of().parseHex(hex.replace(" ", ""));
        assertThatThrownBy(() -> AmqpMessages.read(raw))
                .isInstanceOf(Malformed.class)
                .hasMessageContaining(why);
    }

    /** Sections that brokers add are skipped. */
    @Test
    void annotations_and_properties_are_skipped() throws Exception {
        String annotations = "0053 71 c1 06 02 a3 01 78 54 01 0053 72 c1 01 00 0053 73 c0 04 01 a1 01 31 ";
        AmqpMessages.Read read = AmqpMessages.read(HexFormat.of()
                .parseHex(("0053 70 c0 06 05 42 40 40 40 52 02 " + annotations + "0053 75 a0 02 6869 0053 78 c1 01 00")
                        .replace("52 02", "5202")
                        .replace("c0 06", "c0 07")
                        .replace(" ", "")));
        assertThat(read.message().body().text()).isEqualTo("hi");
        assertThat(read.tries()).isEqualTo(2);
    }

    @Test
    void damaged_messages_are_read_or_refused() throws Exception {
        byte[] raw = written(JOB);
        Random random = new Random(38);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = Arrays.copyOf(raw, random.nextInt(4) == 0 ? random.nextInt(raw.length) : raw.length);
            for (int changes = random.nextInt(4); changes >= 0 && damaged.length > 0; changes--) {
                damaged[random.nextInt(Math.min(damaged.length, 200))] = (byte) random.nextInt();
            }
            try {
                assertThat(AmqpMessages.read(damaged).message().body().size()).isLessThan(raw.length);
            } catch (Malformed e) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }
}
