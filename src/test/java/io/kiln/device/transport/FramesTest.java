// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FramesTest {
    private static final long SEED = 20260101;

    @Test
    void theCrcIsCcittFalse() {
        assertThat(Frames.crc("123456789".getBytes(StandardCharsets.US_ASCII))).isEqualTo(0x29B1);
    }

    @Test
    void anEscapeByteIsSentTwice() {
        byte[] wire = Frames.encode(bytes(0xFF, 1));
        assertThat(wire).startsWith(0xFF, 0xFD, 2, 0, 0, 0, 0xFF, 0xFF, 1);
    }

    @Test
    void whatIsEncodedIsDecoded() {
        Random random = new Random(SEED);
        for (int round = 0; round < 2000; round++) {
            Bytes payload = random(random, random.nextInt(64));
            assertThat(decode(new FrameDecoder(64), Frames.encode(payload))).containsExactly(payload);
        }
    }

    @Test
    void framesAreFoundBetweenTextAndFillers() {
        Random random = new Random(SEED);
        for (int round = 0; round < 500; round++) {
            ByteArrayOutputStream wire = new ByteArrayOutputStream();
            List<Bytes> sent = new ArrayList<>();
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 4; i++) {
                String words = "log " + i + "\n";
                text.append(words);
                wire.writeBytes(words.getBytes(StandardCharsets.US_ASCII));
                Bytes payload = random(random, random.nextInt(20));
                sent.add(payload);
                withFillers(random, Frames.encode(payload), wire);
            }
            FrameDecoder decoder = new FrameDecoder(64);
            assertThat(decode(decoder, wire.toByteArray())).isEqualTo(sent);
            assertThat(new String(decoder.takeText(), StandardCharsets.UTF_8)).isEqualTo(text.toString());
            assertThat(decoder.damaged()).isZero();
        }
    }

    @Test
    void aFlippedBitNeverYieldsAnotherPayload() {
        Random random = new Random(SEED);
        for (int round = 0; round < 5000; round++) {
            Bytes payload = random(random, 1 + random.nextInt(30));
            byte[] wire = Frames.encode(payload);
            int bit = random.nextInt(8 * wire.length);
            wire[bit / 8] ^= (byte) (1 << bit % 8);
            assertThat(decode(new FrameDecoder(64), wire)).isSubsetOf(payload);
        }
    }

    @Test
    void noiseDoesNoHarmToTheFrameBehindIt() {
        Random random = new Random(SEED);
        for (int round = 0; round < 2000; round++) {
            FrameDecoder decoder = new FrameDecoder(64);
            byte[] noise = random(random, random.nextInt(200)).toArray();
            decode(decoder, noise);
            Bytes payload = random(random, 10);
            // Two copies: noise that ends in an escape byte may swallow the first one's start.
            decode(decoder, Frames.encode(payload));
            assertThat(decode(decoder, Frames.encode(payload))).containsExactly(payload);
        }
    }

    @Test
    void aLengthBeyondTheLimitTakesNoMemory() {
        FrameDecoder decoder = new FrameDecoder(64);
        assertThat(decode(
                        decoder,
                        bytes(0xFF, 0xFD, 0xFE, 0xFE, 0xFE, 0x7F, 1, 2, 3).toArray()))
                .isEmpty();
        assertThat(decoder.damaged()).isEqualTo(1);
    }

    private static void withFillers(Random random, byte[] wire, ByteArrayOutputStream out) {
        for (int i = 0; i < wire.length; i++) {
            out.write(wire[i]);
            boolean escape = (wire[i] & 0xFF) == 0xFF;
            if (escape) {
                out.write(wire[++i]);
            }
            if (random.nextInt(8) == 0 && i + 1 < wire.length) {
                out.write(0xFF);
                out.write(0xFE);
            }
        }
    }

    private static List<Bytes> decode(FrameDecoder decoder, byte[] wire) {
        List<Bytes> found = new ArrayList<>();
        for (byte value : wire) {
            decoder.accept(value & 0xFF).ifPresent(found::add);
        }
        return found;
    }

    /** Rich in bytes that mean something to the framing. */
    private static Bytes random(Random random, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (random.nextBoolean() ? 0xFC + random.nextInt(4) : random.nextInt(256));
        }
        return Bytes.wrap(bytes);
    }

    private static Bytes bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return Bytes.wrap(bytes);
    }
}
