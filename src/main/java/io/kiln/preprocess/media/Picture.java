// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The pixels of a picture.
 *
 * @param height rows, 1 or more
 * @param width pixels of a row, 1 or more
 * @param channels 1 (grey) or 3 (red, green, blue)
 * @param samples {@code [height][width][channels]}, each from 0 to 255
 */
record Picture(int height, int width, int channels, Bytes samples) {
    /** Most bytes of a file. */
    static final int MAX_BYTES = 32 << 20;

    /** Most pixels: a photograph of a telephone has 12 million. */
    static final int MAX_PIXELS = 1 << 24;

    /**
     * Reads a file, whose first bytes say what it is.
     *
     * @throws KilnException unless it is a PNG or JPEG that is whole and within the limits
     */
    static Picture read(Path file) {
        GitLfs.pointer(file).ifPresent(pointer -> {
            throw new KilnException(pointer);
        });
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw refused(file.toString(), "this is not a regular file", "a picture");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return parse(file.toString(), in.readNBytes(MAX_BYTES + 1));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    static Picture parse(String name, byte[] content) {
        if (content.length > MAX_BYTES) {
            throw refused(name, "the picture is too large", "at most " + MAX_BYTES + " bytes");
        }
        if (PngPicture.is(content)) {
            return PngPicture.parse(name, content);
        }
        if (JpegPicture.is(content)) {
            return JpegPicture.parse(name, content);
        }
        throw refused(name, "this is neither PNG nor JPEG", "a picture of one of them");
    }

    /** Refuses sizes for which no memory should be taken. */
    static void checkSize(String name, long height, long width) {
        if (height < 1 || width < 1 || height > MAX_PIXELS / width) {
            throw refused(name, "the picture has " + width + " x " + height + " pixels", "1 to " + MAX_PIXELS);
        }
    }

    static KilnException refused(String name, String what, String expected) {
        return Failure.SAMPLES.exception(what, name, expected, "Convert the picture or remove it");
    }

    /** The same picture in grey, as Pillow's mode L computes it: ITU-R BT.601 with 16 fraction bits. */
    Picture grey() {
        if (channels == 1) {
            return this;
        }
        byte[] grey = new byte[height * width];
        for (int i = 0; i < grey.length; i++) {
            int red = samples.get(3 * i) & 0xff;
            int green = samples.get(3 * i + 1) & 0xff;
            int blue = samples.get(3 * i + 2) & 0xff;
            grey[i] = (byte) ((19_595 * red + 38_470 * green + 7_471 * blue + 0x8000) >> 16);
        }
        return new Picture(height, width, 1, Bytes.wrap(grey));
    }

    /** The same picture in colour: a grey one has three equal channels. */
    Picture colour() {
        if (channels == 3) {
            return this;
        }
        byte[] colour = new byte[3 * samples.size()];
        for (int i = 0; i < colour.length; i++) {
            colour[i] = samples.get(i / 3);
        }
        return new Picture(height, width, 3, Bytes.wrap(colour));
    }
}
