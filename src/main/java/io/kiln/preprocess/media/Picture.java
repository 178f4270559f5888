// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.MemoryCacheImageInputStream;

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

    /**
     * Reads JPEG of one or three components (ITU-T T.81), sequential or progressive. The JDK's decoder gets a file of its own: all application
     * parts are left out, so that it sees no colour profile and no orientation, and one is added that keeps it from converting colours. These are
     * converted here, with libjpeg's integers.
     */
    private static final class JpegPicture {
        /** More than any camera writes. Each costs a pass over all pixels. */
        private static final int MAX_SCANS = 64;

        private static final int MAX_PARTS = 10_000;

        private static final int START = 0xd8;
        private static final int END = 0xd9;
        private static final int SCAN = 0xda;
        private static final int TEM = 0x01;
        private static final int RESTART = 0xd0;
        private static final int APP0 = 0xe0;
        private static final int APP14 = 0xee;
        private static final int COMMENT = 0xfe;

        /** Frames that the JDK decodes: baseline, extended and progressive, with Huffman codes. */
        private static final List<Integer> FRAMES = List.of(0xc0, 0xc1, 0xc2);

        /** The part that says that components are red, green and blue: Adobe's, with the transformation 0. */
        private static final byte[] UNCONVERTED = {
            (byte) 0xff, (byte) APP14, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0
        };

        private final String name;
        private final byte[] content;
        private final ByteArrayOutputStream plain = new ByteArrayOutputStream();
        private final List<Integer> components = new ArrayList<>();
        private boolean hasJfif;
        private int adobe = -1;
        private int scans;
        private int height;
        private int width;

        private JpegPicture(String name, byte[] content) {
            this.name = name;
            this.content = content;
        }

        static boolean is(byte[] content) {
            return content.length > 3 && at(content, 0) == 0xff && at(content, 1) == START && at(content, 2) == 0xff;
        }

        static Picture parse(String name, byte[] content) {
            JpegPicture jpeg = new JpegPicture(name, content);
            jpeg.scan();
            return jpeg.decode();
        }

        private static int at(byte[] bytes, int i) {
            return bytes[i] & 0xff;
        }

        private int word(int at) {
            return at(content, at) << 8 | at(content, at + 1);
        }

        /** Walks over the parts, checks them, and copies those that have pixels. */
        private void scan() {
            plain.writeBytes(new byte[] {(byte) 0xff, (byte) START});
            plain.writeBytes(UNCONVERTED);
            int at = 2;
            for (int part = 0; part < MAX_PARTS; part++) {
                while (at < content.length - 1 && at(content, at) == 0xff && at(content, at + 1) == 0xff) {
                    at++;
                }
                if (at > content.length - 2 || at(content, at) != 0xff) {
                    throw damaged("it ends before its end is marked, or a part is missing");
                }
                int marker = at(content, at + 1);
                if (marker == END) {
                    plain.writeBytes(new byte[] {(byte) 0xff, (byte) END});
                    return;
                }
                if (marker == TEM || marker == START || (marker & 0xf8) == RESTART) {
                    throw damaged("a part begins with the marker " + marker);
                }
                int size = at > content.length - 4 ? 0 : word(at + 2);
                if (size < 2 || size > content.length - at - 2) {
                    throw damaged("a part has " + size + " bytes, and the file " + (content.length - at - 2));
                }
                int end = at + 2 + size;
                read(marker, at + 4, size - 2);
                if (marker == SCAN) {
                    end = entropyCodedEnd(end);
                }
                if ((marker < APP0 || marker > 0xef) && marker != COMMENT) {
                    plain.write(content, at, end - at);
                }
                at = end;
            }
            throw damaged("it has more than " + MAX_PARTS + " parts");
        }

        private void read(int marker, int at, int size) {
            if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
                readFrame(marker, at, size);
            } else if (marker == APP0 && startsWith(at, size, "JFIF\0")) {
                hasJfif = true;
            } else if (marker == APP14 && startsWith(at, size, "Adobe") && size >= 12) {
                adobe = at(content, at + 11);
            } else if (marker == SCAN) {
                scans++;
                if (components.isEmpty() || scans > MAX_SCANS) {
                    throw damaged(
                            components.isEmpty() ? "it has no frame" : "it has more than " + MAX_SCANS + " scans");
                }
            }
        }

        private void readFrame(int marker, int at, int size) {
            int count = size < 6 ? 0 : at(content, at + 5);
            if (!components.isEmpty() || size != 6 + 3 * count) {
                throw damaged("its frame is wrong");
            }
            if (!FRAMES.contains(marker) || at(content, at) != 8 || (count != 1 && count != 3)) {
                throw Picture.refused(
                        name,
                        "this JPEG has " + count + " components of " + at(content, at) + " bits, in a frame of type "
                                + (marker - 0xc0),
                        "1 or 3 components of 8 bits, baseline or progressive with Huffman codes");
            }
            height = word(at + 1);
            width = word(at + 3);
            Picture.checkSize(name, height, width);
            for (int c = 0; c < count; c++) {
                components.add(at(content, at + 6 + 3 * c));
            }
        }

        private boolean startsWith(int at, int size, String letters) {
            return size >= letters.length()
                    && letters.chars()
                            .boxed()
                            .toList()
                            .equals(Stream.iterate(at, i -> i + 1)
                                    .limit(letters.length())
                                    .map(i -> at(content, i))
                                    .toList());
        }

        /** The next marker behind compressed data: one that is neither a stuffed 0 nor a restart. */
        private int entropyCodedEnd(int from) {
            for (int at = from; at < content.length - 1; at++) {
                int next = at(content, at + 1);
                if (at(content, at) == 0xff && next != 0 && next != 0xff && (next & 0xf8) != RESTART) {
                    return at;
                }
            }
            throw damaged("its data do not end");
        }

        private Picture decode() {
            if (scans == 0) {
                throw damaged("it has no data");
            }
            Raster raster = raster();
            int channels = components.size();
            if (raster.getWidth() != width || raster.getHeight() != height || raster.getNumBands() != channels) {
                throw damaged("it has other pixels than its frame says");
            }
            byte[] samples = new byte[height * width * channels];
            int[] row = new int[width * channels];
            for (int y = 0; y < height; y++) {
                raster.getPixels(0, y, width, 1, row);
                for (int i = 0; i < row.length; i++) {
                    samples[y * row.length + i] = (byte) row[i];
                }
            }
            if (channels == 3 && isLuminanceFirst()) {
                convert(samples);
            }
            return new Picture(height, width, channels, Bytes.wrap(samples));
        }

        /** Whether the components are luminance and chrominance, by libjpeg's rules. */
        private boolean isLuminanceFirst() {
            if (hasJfif || adobe < 0) {
                return hasJfif || !components.equals(List.of((int) 'R', (int) 'G', (int) 'B'));
            }
            return adobe != 0;
        }

        private Raster raster() {
            Iterator<ImageReader> readers = ImageIO.getImageReadersByFormatName("jpeg");
            if (!readers.hasNext()) {
                throw Picture.refused(name, "this JDK has no decoder for JPEG", "a JDK with the module java.desktop");
            }
            ImageReader reader = readers.next();
            List<String> warnings = new ArrayList<>();
            try (MemoryCacheImageInputStream in =
                    new MemoryCacheImageInputStream(new ByteArrayInputStream(plain.toByteArray()))) {
                reader.setInput(in, true, true);
                reader.addIIOReadWarningListener((source, warning) -> warnings.add(warning));
                Raster raster = reader.readRaster(0, reader.getDefaultReadParam());
                if (!warnings.isEmpty()) {
                    throw damaged("its data are corrupt or end early");
                }
                return raster;
            } catch (IOException | IllegalArgumentException | IllegalStateException | IndexOutOfBoundsException e) {
                throw damaged("its data cannot be decoded");
            } finally {
                reader.dispose();
            }
        }

        /** From luminance and chrominance to red, green and blue: ITU-R BT.601 with 16 fraction bits. */
        private static void convert(byte[] samples) {
            for (int i = 0; i < samples.length; i += 3) {
                int y = at(samples, i);
                int blue = at(samples, i + 1) - 128;
                int red = at(samples, i + 2) - 128;
                samples[i] = clamped(y + ((91_881 * red + 0x8000) >> 16));
                samples[i + 1] = clamped(y + ((-22_554 * blue - 46_802 * red + 0x8000) >> 16));
                samples[i + 2] = clamped(y + ((116_130 * blue + 0x8000) >> 16));
            }
        }

        private static byte clamped(int value) {
            return (byte) Math.max(0, Math.min(255, value));
        }

        private KilnException damaged(String how) {
            return Picture.refused(name, "this JPEG is damaged: " + how, "a whole file");
        }
    }
}
