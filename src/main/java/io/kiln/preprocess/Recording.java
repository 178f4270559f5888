// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Reads recordings: WAV files of 16 bits and one channel (RIFF; Multimedia Programming Interface and Data Specifications 1.0), or bare
 * samples of 16 bits, little endian, in files with another suffix. What is wrong or too long is refused before memory is taken for it.
 */
public final class Recording {
    /** Far more than a model hears at once. */
    private static final int MAX_BYTES = 64 << 20;

    private static final int PCM = 1;
    private static final int EXTENSIBLE = 0xFFFE;
    private static final int FORMAT_BYTES = 16;
    private static final int CHUNK_HEAD = 8;

    private final String name;
    private final byte[] content;
    private final ByteBuffer file;

    private Recording(String name, byte[] content) {
        this.name = name;
        this.content = content;
        this.file = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * As many samples as asked for. Of a longer recording it is the beginning; a shorter one is followed by silence.
     *
     * @param sampleRate the rate that a WAV file has to have
     * @throws KilnException if it is not such a recording
     */
    public static Bytes read(Path file, int sampleRate, int samples) {
        return Bytes.wrap(Arrays.copyOf(read(file, sampleRate).toArray(), 2 * samples));
    }

    /**
     * All samples of a recording.
     *
     * @param sampleRate the rate that a WAV file has to have
     * @throws KilnException if it is not such a recording
     */
    public static Bytes read(Path file, int sampleRate) {
        GitLfs.pointer(file).ifPresent(pointer -> {
            throw new KilnException(pointer);
        });
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw Failure.AUDIO.exception("this is not a regular file", file.toString(), "a recording", "");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return Bytes.wrap(data(file.toString(), in.readNBytes(MAX_BYTES + 1), sampleRate));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    static Bytes parse(String name, byte[] content, int sampleRate, int samples) {
        return Bytes.wrap(Arrays.copyOf(data(name, content, sampleRate), 2 * samples));
    }

    private static byte[] data(String name, byte[] content, int sampleRate) {
        Recording recording = new Recording(name, content);
        if (content.length > MAX_BYTES) {
            throw recording.refused("the recording is too large", "at most " + MAX_BYTES + " bytes");
        }
        byte[] data = name.endsWith(".wav") ? recording.wave(sampleRate) : content;
        if (data.length % 2 != 0) {
            throw recording.refused("the recording has " + data.length + " bytes", "samples of two bytes");
        }
        return data;
    }

    /** Samples as bytes, little endian. */
    public static Bytes bytes(short[] samples) {
        ByteBuffer buffer = ByteBuffer.allocate(2 * samples.length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.asShortBuffer().put(samples);
        return Bytes.wrap(buffer.array());
    }

    /** Samples from their bytes, little endian. */
    public static short[] samples(Bytes bytes) {
        short[] samples = new short[bytes.size() / 2];
        bytes.buffer().order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().get(samples);
        return samples;
    }

    private byte[] wave(int sampleRate) {
        if (file.limit() < 12 || !tag(0).equals("RIFF") || !tag(8).equals("WAVE")) {
            throw refused("this is not a WAV file", "RIFF with WAVE in it");
        }
        boolean hasFormat = false;
        long at = 12;
        while (at + CHUNK_HEAD <= file.limit()) {
            String tag = tag((int) at);
            long size = Integer.toUnsignedLong(file.getInt((int) at + 4));
            long data = at + CHUNK_HEAD;
            if (data + size > file.limit()) {
                throw refused(
                        "its part `" + tag + "` has " + size + " bytes, more than the file", "a file that is whole");
            }
            if (tag.equals("fmt ")) {
                checkFormat((int) data, size, sampleRate);
                hasFormat = true;
            } else if (tag.equals("data") && hasFormat) {
                return Arrays.copyOfRange(content, (int) data, (int) (data + size));
            }
            at = data + size + size % 2;
        }
        throw refused("the WAV file has no " + (hasFormat ? "samples" : "format"), "parts `fmt ` and then `data`");
    }

    private void checkFormat(int at, long size, int sampleRate) {
        if (size < FORMAT_BYTES) {
            throw refused("its format has " + size + " bytes", FORMAT_BYTES + " or more");
        }
        int format = Short.toUnsignedInt(file.getShort(at));
        int channels = Short.toUnsignedInt(file.getShort(at + 2));
        long rate = Integer.toUnsignedLong(file.getInt(at + 4));
        int bits = Short.toUnsignedInt(file.getShort(at + 14));
        if ((format != PCM && format != EXTENSIBLE) || channels != 1 || bits != 16 || rate != sampleRate) {
            throw refused(
                    "the recording has " + channels + " channels of " + bits + " bits at " + rate + " Hz, format "
                            + format,
                    "1 channel of 16 bits at " + sampleRate + " Hz, format " + PCM + " (PCM)");
        }
    }

    /** Four characters, with question marks for those that are not printable, because messages show them. */
    private String tag(int at) {
        StringBuilder tag = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            char letter = (char) file.get(at + i);
            tag.append(letter >= ' ' && letter < 0x7f ? letter : '?');
        }
        return tag.toString();
    }

    private KilnException refused(String what, String expected) {
        return Failure.AUDIO.exception(what, name, expected, "Convert the recording");
    }
}
