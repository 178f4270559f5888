// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.fuzz.ReaderProperty;
import java.awt.image.BufferedImage;
import java.awt.image.ComponentSampleModel;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pictures against the JDK's own reader and writer, and against bytes by hand. */
class PictureTest {
    private static final int WIDTH = 21;
    private static final int HEIGHT = 13;

    /** Smooth areas with some noise, as in photographs. */
    static BufferedImage image(int type, int seed) {
        Random random = new Random(seed);
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, type);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int red = 12 * x + random.nextInt(4);
                int green = 18 * y + random.nextInt(4);
                image.setRGB(x, y, 0xff << 24 | red << 16 | green << 8 | (red + green) / 2);
            }
        }
        return image;
    }

    static byte[] written(BufferedImage image, String format, boolean isProgressive) throws IOException {
        ImageWriter writer = ImageIO.getImageWritersByFormatName(format).next();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
            writer.setOutput(out);
            ImageWriteParam parameters = writer.getDefaultWriteParam();
            if (isProgressive) {
                parameters.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
            }
            writer.write(null, new IIOImage(image, null, null), parameters);
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }

    private static byte[] colours(BufferedImage image) {
        byte[] samples = new byte[3 * image.getWidth() * image.getHeight()];
        for (int i = 0; i < samples.length / 3; i++) {
            int rgb = image.getRGB(i % image.getWidth(), i / image.getWidth());
            samples[3 * i] = (byte) (rgb >> 16);
            samples[3 * i + 1] = (byte) (rgb >> 8);
            samples[3 * i + 2] = (byte) rgb;
        }
        return samples;
    }

    private static Picture read(byte[] content) {
        return Picture.parse("a.png", content);
    }

    @ParameterizedTest
    @CsvSource({
        "TYPE_3BYTE_BGR, 5",
        "TYPE_4BYTE_ABGR, 6",
        "TYPE_BYTE_INDEXED, 13",
        "TYPE_BYTE_BINARY, 12",
    })
    void pngIsReadAsByTheJdk(String type, int number) throws IOException {
        for (boolean isInterlaced : new boolean[] {false, true}) {
            byte[] png = written(image(number, 3), "png", isInterlaced);

            Picture picture = read(png).colour();

            assertThat(picture.height()).isEqualTo(HEIGHT);
            assertThat(picture.width()).isEqualTo(WIDTH);
            assertThat(picture.samples().toArray())
                    .as("%s %s", type, isInterlaced)
                    .isEqualTo(colours(ImageIO.read(new ByteArrayInputStream(png))));
        }
    }

    /** A grey raster has its own numbers; the JDK would convert them to colours with a curve. */
    @ParameterizedTest
    @ValueSource(ints = {BufferedImage.TYPE_BYTE_GRAY, BufferedImage.TYPE_USHORT_GRAY})
    void greyPngHasTheRastersNumbers(int type) throws IOException {
        BufferedImage image = image(type, 5);
        Raster raster = image.getRaster();
        int shift = type == BufferedImage.TYPE_USHORT_GRAY ? 8 : 0;
        Picture picture = read(written(image, "png", true));

        assertThat(picture.channels()).isOne();
        for (int i = 0; i < picture.samples().size(); i++) {
            assertThat(picture.samples().get(i) & 0xff).isEqualTo(raster.getSample(i % WIDTH, i / WIDTH, 0) >> shift);
        }
    }

    /** Depths of 1, 2 and 4 bits are stretched to 0 to 255. */
    @Test
    void shallowGreyIsStretched() {
        assertThat(read(png(header(4, 1, 2, 0), chunk("IDAT", deflated(0, 0b00_01_10_11)), chunk("IEND")))
                        .samples()
                        .toArray())
                .containsExactly(0, 85, (byte) 170, (byte) 255);
        assertThat(read(png(header(2, 1, 4, 0), chunk("IDAT", deflated(0, 0x3f)), chunk("IEND")))
                        .samples()
                        .toArray())
                .containsExactly(51, (byte) 255);
    }

    /** With every filter once, and data in two chunks. */
    @Test
    void filtersAreUndone() {
        byte[] data = deflated(0, 10, 20, 1, 1, 2, 2, 5, 5, 3, 4, 4, 4, 1, 1);
        byte[] png = png(
                header(2, 5, 8, 0),
                chunk("tEXt", new byte[20]),
                chunk("IDAT", Arrays.copyOf(data, 7)),
                chunk("IDAT", Arrays.copyOfRange(data, 7, data.length)),
                chunk("IEND"));

        assertThat(read(png).samples().toArray()).containsExactly(10, 20, 1, 3, 6, 8, 7, 11, 8, 12);
    }

    @ParameterizedTest
    @CsvSource({"5, false", "5, true", "10, false"})
    void jpegIsReadAsByTheJdk(int type, boolean isProgressive) throws IOException {
        byte[] jpeg = written(image(type, 7), "jpeg", isProgressive);

        Picture picture = read(jpeg);

        Raster raster = ImageIO.read(new ByteArrayInputStream(jpeg)).getRaster();
        assertThat(picture.channels()).isEqualTo(type == 10 ? 1 : 3);
        int[] pixels = raster.getPixels(0, 0, WIDTH, HEIGHT, (int[]) null);
        boolean isBgr = raster.getSampleModel() instanceof ComponentSampleModel;
        assertThat(isBgr).isTrue();
        for (int i = 0; i < pixels.length; i++) {
            assertThat(picture.samples().get(i) & 0xff).isEqualTo(pixels[i]);
        }
    }

    /** A profile of colours that is not one, and an orientation, change nothing. */
    @Test
    void profilesAndOrientationsInAJpegAreLeftOut() throws IOException {
        byte[] jpeg = written(image(5, 9), "jpeg", false);
        byte[] profile = "ICC_PROFILE\0\1\1 this is none".getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer with = ByteBuffer.allocate(jpeg.length + profile.length + 4);
        with.put(jpeg, 0, 2).putShort((short) 0xffe2).putShort((short) (profile.length + 2));
        with.put(profile).put(jpeg, 2, jpeg.length - 2);

        assertThat(read(with.array()).samples().toArray())
                .isEqualTo(read(jpeg).samples().toArray());
    }

    @Test
    void greyIsThatOfPillow() {
        Picture colour = new Picture(1, 2, 3, Bytes.wrap(new byte[] {(byte) 255, 0, 0, 10, (byte) 200, 30}));

        assertThat(colour.grey().samples().toArray()).containsExactly(76, (byte) 124);
        assertThat(colour.grey().colour().samples().toArray())
                .containsExactly(76, 76, 76, (byte) 124, (byte) 124, (byte) 124);
    }

    private static byte[] deflated(int... values) {
        byte[] plain = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            plain[i] = (byte) values[i];
        }
        Deflater deflater = new Deflater();
        deflater.setInput(plain);
        deflater.finish();
        byte[] buffer = new byte[1000 + plain.length];
        int size = deflater.deflate(buffer);
        deflater.end();
        return Arrays.copyOf(buffer, size);
    }

    private static byte[] header(int width, int height, int depth, int type) {
        return chunk(
                "IHDR",
                ByteBuffer.allocate(13)
                        .putInt(width)
                        .putInt(height)
                        .put((byte) depth)
                        .put((byte) type)
                        .array());
    }

    private static byte[] chunk(String type, byte... data) {
        byte[] letters = type.getBytes(StandardCharsets.US_ASCII);
        CRC32 check = new CRC32();
        check.update(letters);
        check.update(data);
        return ByteBuffer.allocate(12 + data.length)
                .putInt(data.length)
                .put(letters)
                .put(data)
                .putInt((int) check.getValue())
                .array();
    }

    private static byte[] png(byte[]... chunks) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
        for (byte[] chunk : chunks) {
            out.writeBytes(chunk);
        }
        return out.toByteArray();
    }

    private static void refused(byte[] content, String what) {
        assertThatThrownBy(() -> read(content))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(what);
    }

    @Test
    void damagedAndHugePngsAreRefusedBeforeMemoryIsTaken() {
        byte[] end = chunk("IEND");
        refused("GIF89a".getBytes(StandardCharsets.US_ASCII), "neither PNG nor JPEG");
        refused(png(header(1, 1, 8, 0)), "ends before its end is marked");
        refused(png(header(1, 1, 3, 0), end), "values that PNG does not know");
        refused(png(header(1, 1, 16, 3), end), "values that PNG does not know");
        refused(png(header(0x7fffffff, 0x7fffffff, 8, 2), end), "2147483647 x 2147483647 pixels");
        refused(png(header(-1, -1, 8, 2), end), "4294967295 x 4294967295 pixels");
        refused(png(header(0, 5, 8, 2), end), "0 x 5 pixels");
        refused(png(chunk("IDAT"), header(1, 1, 8, 0), end), "the first chunk alone must be its header");
        refused(png(header(1, 1, 8, 0), header(1, 1, 8, 0), end), "the first chunk alone must be its header");
        refused(png(header(1, 1, 8, 0), chunk("XyZa"), end), "a chunk is unknown");
        refused(png(header(1, 1, 8, 3), chunk("IDAT", deflated(0, 0)), end), "its palette has 0 bytes");
        refused(
                png(header(1, 1, 8, 3), chunk("PLTE", new byte[3]), chunk("IDAT", deflated(0, 1)), end),
                "a colour that the palette lacks");
        refused(png(header(1, 1, 8, 0), chunk("IDAT", deflated(5, 1)), end), "a row has a filter");
        refused(png(header(1, 1, 8, 0), chunk("IDAT", deflated(0)), end), "data end before its last row");
        refused(png(header(1, 1, 8, 0), chunk("IDAT", new byte[9]), end), "cannot be decompressed");
        byte[] long1 = png(header(1, 1, 8, 0), end);
        long1[8] = 0x40;
        refused(long1, "1073741837 bytes, more than the file");
    }

    @Test
    void damagedAndHugeJpegsAreRefusedBeforeMemoryIsTaken() throws IOException {
        byte[] jpeg = written(image(5, 7), "jpeg", false);
        int frame = find(jpeg, 0xc0);
        int scan = find(jpeg, 0xda);
        refused(Arrays.copyOf(jpeg, jpeg.length - 2), "its data do not end");
        refused(Arrays.copyOf(jpeg, 20), "ends before its end is marked");
        refused(Arrays.copyOf(jpeg, frame + 6), "a part has 17 bytes");
        refused(with(jpeg, frame + 5, 0xff, 0xff, 0xff, 0xff), "65535 x 65535 pixels");
        refused(with(jpeg, frame + 5, 0, 0, 0, 0), "0 x 0 pixels");
        refused(with(jpeg, frame + 4, 12), "of 12 bits");
        refused(with(jpeg, frame + 1, 0xc9), "in a frame of type 9");
        refused(with(jpeg, frame + 9, 4), "its frame is wrong");
        byte[] manyScans = Arrays.copyOf(jpeg, scan + 100 * (jpeg.length - 2 - scan) + 2);
        for (int i = 1; i < 100; i++) {
            System.arraycopy(jpeg, scan, manyScans, scan + i * (jpeg.length - 2 - scan), jpeg.length - scan);
        }
        refused(manyScans, "more than 64 scans");
        byte[] short1 = Arrays.copyOf(jpeg, scan + 24);
        short1[scan + 22] = (byte) 0xff;
        short1[scan + 23] = (byte) 0xd9;
        refused(short1, "corrupt or end early");
    }

    private static byte[] with(byte[] content, int at, int... values) {
        byte[] copy = content.clone();
        for (int i = 0; i < values.length; i++) {
            copy[at + i] = (byte) values[i];
        }
        return copy;
    }

    private static int find(byte[] jpeg, int marker) {
        for (int i = 0; i < jpeg.length - 1; i++) {
            if ((jpeg[i] & 0xff) == 0xff && (jpeg[i + 1] & 0xff) == marker) {
                return i;
            }
        }
        throw new AssertionError(String.format(Locale.ROOT, "no marker %x", marker));
    }

    /** Any bytes are a picture or a message, in bounded time and memory. */
    @Test
    void mutatedPicturesAreReadOrRefused() throws IOException {
        Random random = new Random(11);
        byte[][] seeds = {
            written(image(5, 1), "png", true),
            written(image(13, 1), "png", false),
            written(image(5, 1), "jpeg", true),
            written(image(10, 1), "jpeg", false)
        };
        int read = 0;
        for (int i = 0; i < 600; i++) {
            byte[] file = seeds[i % seeds.length].clone();
            for (int k = random.nextInt(4); k >= 0; k--) {
                file[random.nextInt(file.length)] = (byte) (random.nextBoolean() ? random.nextInt() : 0xff);
            }
            byte[] cut = random.nextInt(8) == 0 ? Arrays.copyOf(file, random.nextInt(file.length)) : file;
            read += ReaderProperty.holds(() -> read(Bytes.wrap(cut).toArray())) ? 1 : 0;
        }
        assertThat(read).isBetween(50, 500);
    }
}
