// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.device.transport.FrameReader.FrameDecoder;
import io.kiln.device.transport.FrameReader.Frames;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
                wire.writeBytes(withFillers(random, payload));
            }
            FrameDecoder decoder = new FrameDecoder(64);
            assertThat(decode(decoder, wire.toByteArray())).isEqualTo(sent);
            assertThat(new String(decoder.takeText(), StandardCharsets.UTF_8)).isEqualTo(text.toString());
            assertThat(decoder.damaged()).isZero();
        }
    }

    /** What TVM's own receiver takes and drops; {@code src/test/c/app_frame_test.c} has the same for the default application. */
    @ParameterizedTest
    @CsvSource({
        "FF FD 03 00 00 00 6F 6E 65 58 F4, 6F 6E 65",
        "FF FD 03 00 00 00 6F FF FE 6E 65 3D 28, 6F 6E 65",
        "FF FD FF FE 03 00 00 00 6F 6E 65 D5 FA, 6F 6E 65",
        "FF FD 03 FF FE 00 00 00 6F 6E 65 ED D9, 6F 6E 65",
        "FF FD 03 00 00 00 FF FE 6F 6E 65 0A 37, 6F 6E 65",
        "FF FD 03 00 00 00 6F FF FE FF FE 6E 65 74 44, 6F 6E 65",
        "FF FD 01 00 00 00 FF FE FF FF 4B 2F, FF",
        "FF FD 02 00 00 00 FF FF FF FE FF FF D6 DE, FF FF",
        "FF FD 03 00 00 00 6F 6E 65 FF FE 58 F4, 6F 6E 65",
        "FF FD 03 00 00 00 6F 6E 65 58 FF FE F4, 6F 6E 65",
        "FF FD 00 00 00 00 FF FE 83 44, ''",
        "FF FF FD 03 00 00 00 6F 6E 65 58 F4, 6F 6E 65",
        "FE 41 FF FE FF 42 FF FD 03 00 00 00 6F 6E 65 58 F4, 6F 6E 65",
        "FF FD 03 00 00 00 6F FF FE FF FD 03 00 00 00 6F 6E 65 58 F4, 6F 6E 65",
        "FF FD 03 00 00 00 6F FF 00 FF FD 03 00 00 00 6F 6E 65 58 F4, 6F 6E 65"
    })
    void fillersCountIntoTheCrcUpToTheEndOfThePayload(String wire, String payload) {
        assertThat(decode(new FrameDecoder(64), hex(wire))).containsExactly(Bytes.wrap(hex(payload)));
    }

    @Test
    void aCrcWithoutItsFillersIsWrong() {
        FrameDecoder decoder = new FrameDecoder(64);
        assertThat(decode(decoder, hex("FF FD 03 00 00 00 6F FF FE 6E 65 58 F4")))
                .isEmpty();
        assertThat(decoder.damaged()).isEqualTo(1);
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

    /** The frame of a payload with fillers here and there, which count into the CRC up to the payload's last byte. */
    private static byte[] withFillers(Random random, Bytes payload) {
        byte[] plain = Frames.encode(payload);
        int covered = plain.length - crcBytes(plain);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < covered; i++) {
            out.write(plain[i]);
            if ((plain[i] & 0xFF) == 0xFF) {
                out.write(plain[++i]);
            }
            fill(random, i + 1 < covered, out);
        }
        int crc = Frames.crc(out.toByteArray());
        fill(random, true, out);
        for (int value : new int[] {crc & 0xFF, crc >>> 8}) {
            if (value == 0xFF) {
                out.write(value);
            }
            out.write(value);
        }
        return out.toByteArray();
    }

    private static void fill(Random random, boolean isAllowed, ByteArrayOutputStream out) {
        while (isAllowed && random.nextInt(8) == 0) {
            out.write(0xFF);
            out.write(0xFE);
        }
    }

    /** Bytes of the CRC on the wire, each FF of it twice. */
    private static int crcBytes(byte[] wire) {
        int bytes = 0;
        for (int part = 0; part < 2; part++) {
            bytes += (wire[wire.length - 1 - bytes] & 0xFF) == 0xFF ? 2 : 1;
        }
        return bytes;
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

    private static byte[] hex(String digits) {
        return HexFormat.ofDelimiter(" ").parseHex(digits);
    }

    private static Bytes bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return Bytes.wrap(bytes);
    }
}
