// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RecordingTest {
    @TempDir
    private Path folder;

    private static final short[] SAMPLES = {1, -2, 300, Short.MIN_VALUE, Short.MAX_VALUE};

    @Test
    void wavFilesAreReadWhateverPartsTheyHave() {
        byte[] wav = wav(part("LIST", new byte[] {1, 2, 3}), format(1, 1, 8000, 16), data());

        assertThat(Recording.samples(read(wav, 5))).containsExactly(SAMPLES);
        assertThat(Recording.samples(read(wav, 2))).containsExactly(Arrays.copyOf(SAMPLES, 2));
        assertThat(Recording.samples(read(wav, 8))).containsExactly(Arrays.copyOf(SAMPLES, 8));
    }

    @Test
    void bareSamplesAreReadAsTheyAre() {
        Bytes bare = Recording.parse("a.bin", Recording.bytes(SAMPLES).toArray(), 8000, 5);

        assertThat(Recording.samples(bare)).containsExactly(SAMPLES);
        refused("a.bin", new byte[3], "3 bytes");
    }

    @Test
    void otherRecordingsAreRefused() {
        refused("a.wav", new byte[11], "not a WAV file");
        refused("a.wav", wav(format(1, 2, 8000, 16), data()), "2 channels of 16 bits at 8000 Hz");
        refused("a.wav", wav(format(1, 1, 44100, 16), data()), "1 channels of 16 bits at 44100 Hz");
        refused("a.wav", wav(format(3, 1, 8000, 32), data()), "32 bits at 8000 Hz, format 3");
        refused("a.wav", wav(data(), format(1, 1, 8000, 16)), "has no samples");
        refused("a.wav", wav(part("fmt ", new byte[4]), data()), "its format has 4 bytes");
        byte[] huge = wav(format(1, 1, 8000, 16), data());
        Arrays.fill(huge, huge.length - 14, huge.length - 10, (byte) 0xff);
        refused("a.wav", huge, "4294967295 bytes, more than the file");
    }

    /** Reading a pipe that nobody writes to would never end. */
    @Test
    @Timeout(10)
    void pipesAreRefused() {
        Path pipe = folder.resolve("a.wav");
        ProcessRunner.run(Command.of("mkfifo", pipe.toString()));
        assertThatThrownBy(() -> Recording.read(pipe, 8000, 5)).hasMessageContaining("this is not a regular file");
        assertThatThrownBy(() -> Preprocessing.read(pipe)).hasMessageContaining("this is not a regular file");
    }

    /** Whatever the bytes are, they are read or refused, and give as many samples as asked for. */
    @Test
    void damagedFilesAreReadOrRefused() {
        Random random = new Random(5);
        int read = 0;
        for (int i = 0; i < 5000; i++) {
            byte[] wav = wav(part("LIST", new byte[4]), format(1, 1, 8000, 16), data());
            wav[random.nextInt(wav.length)] = (byte) random.nextInt();
            wav[random.nextInt(wav.length)] ^= (byte) (1 << random.nextInt(8));
            byte[] cut = Arrays.copyOf(wav, random.nextInt(4) == 0 ? random.nextInt(wav.length) : wav.length);
            try {
                assertThat(read(cut, 7).size()).isEqualTo(14);
                read++;
            } catch (KilnException e) {
                assertThat(e).hasMessageContaining("a.wav");
            }
        }
        assertThat(read).isBetween(1, 4999);
    }

    private static Bytes read(byte[] wav, int samples) {
        return Recording.parse("a.wav", wav, 8000, samples);
    }

    private static void refused(String name, byte[] content, String what) {
        assertThatThrownBy(() -> Recording.parse(name, content, 8000, 5))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(what);
    }

    private static byte[] data() {
        return part("data", Recording.bytes(SAMPLES).toArray());
    }

    private static byte[] format(int format, int channels, int rate, int bits) {
        return part(
                "fmt ",
                ByteBuffer.allocate(16)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putShort((short) format)
                        .putShort((short) channels)
                        .putInt(rate)
                        .putInt(rate * channels * bits / 8)
                        .putShort((short) (channels * bits / 8))
                        .putShort((short) bits)
                        .array());
    }

    private static byte[] part(String tag, byte[] content) {
        return ByteBuffer.allocate(8 + content.length + content.length % 2)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(tag.getBytes(StandardCharsets.US_ASCII))
                .putInt(content.length)
                .put(content)
                .array();
    }

    private static byte[] wav(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return ByteBuffer.allocate(12 + all.size())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("RIFF".getBytes(StandardCharsets.US_ASCII))
                .putInt(4 + all.size())
                .put("WAVE".getBytes(StandardCharsets.US_ASCII))
                .put(all.toByteArray())
                .array();
    }
}
