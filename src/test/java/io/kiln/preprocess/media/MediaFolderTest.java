// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.preprocess.Preprocessing;
import io.kiln.preprocess.media.MediaFolder.MediaSample;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MediaFolderTest {
    @TempDir
    Path folder;

    private static TensorInfo input(DType type, float scale, int zeroPoint, Integer... shape) {
        return new TensorInfo("x", "x", type, List.of(shape), scale, zeroPoint);
    }

    private static TensorInfo floats(Integer... shape) {
        return input(DType.FLOAT32, 0, 0, shape);
    }

    private void forms(String... lines) throws IOException {
        Files.writeString(folder.resolve("samples.yaml"), "schema: 1\n" + String.join("\n", lines) + "\n");
    }

    /** A picture of one row and three pixels: red, green and blue of 10, 20, 30; 40, 50, 60; 70, 80, 90. */
    private void picture(String name) throws IOException {
        BufferedImage image = new BufferedImage(3, 1, BufferedImage.TYPE_INT_RGB);
        for (int x = 0; x < 3; x++) {
            int first = 10 + 30 * x;
            image.setRGB(x, 0, first << 16 | (first + 10) << 8 | (first + 20));
        }
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, PictureTest.written(image, "png", false));
    }

    private List<MediaSample> read(TensorInfo... inputs) {
        return new MediaFolder(folder, Optional.empty()).read(List.of(inputs));
    }

    private static List<Float> floats(Bytes bytes) {
        List<Float> values = new ArrayList<>();
        for (int i = 0; i < bytes.size(); i += Float.BYTES) {
            values.add(bytes.buffer().order(ByteOrder.LITTLE_ENDIAN).getFloat(i));
        }
        return values;
    }

    private void refused(TensorInfo input, String what) {
        assertThatThrownBy(() -> read(input)).isInstanceOf(KilnException.class).hasMessageContaining(what);
    }

    @Test
    void aPictureBecomesTheInputAsDescribed() throws IOException {
        picture("a.png");

        forms("image: {normalize: {divide: 10}}");
        assertThat(floats(read(floats(1, 1, 3, 3)).get(0).input())).containsExactly(1f, 2f, 3f, 4f, 5f, 6f, 7f, 8f, 9f);
        forms("image: {channels: bgr, normalize: {divide: 10, mean: [1, 2, 3], std: [1, 2, 4]}}");
        assertThat(floats(read(floats(1, 3, 3)).get(0).input()))
                .containsExactly(2f, 0f, -0.5f, 5f, 1.5f, 0.25f, 8f, 3f, 1f);
        forms("image: {layout: nchw}");
        assertThat(floats(read(floats(1, 3, 1, 3)).get(0).input()))
                .containsExactly(10f, 40f, 70f, 20f, 50f, 80f, 30f, 60f, 90f);
        forms("image: {channels: gray}");
        assertThat(floats(read(floats(1, 1, 3, 1)).get(0).input())).containsExactly(18f, 48f, 78f);
        assertThat(floats(read(floats(1, 1, 1, 3)).get(0).input())).containsExactly(18f, 48f, 78f);
        assertThat(floats(read(floats(1, 3)).get(0).input())).containsExactly(18f, 48f, 78f);
        forms("image: {crop: {height: 1, width: 1}}");
        assertThat(floats(read(floats(1, 1, 1, 3)).get(0).input())).containsExactly(40f, 50f, 60f);
    }

    /** By hand: centres of new pixels lie at 0.75 and 2.25 of the old ones' edges. */
    @Test
    void aPictureIsResizedAsDescribed() throws IOException {
        picture("a.png");

        forms("image: {channels: gray, resize: {height: 1, width: 2, method: nearest}}");
        assertThat(floats(read(floats(1, 2)).get(0).input())).containsExactly(18f, 78f);
        forms("image: {channels: gray, resize: {height: 1, width: 2, method: bilinear}}");
        assertThat(floats(read(floats(1, 2)).get(0).input())).containsExactly(25.5f, 70.5f);
        // The triangle around 0.75 reaches 1.5 to either side: weights 5/6, 1/2 and, beyond the centre of the last
        // pixel, 0.
        forms("image: {channels: gray, resize: {height: 1, width: 2}}");
        assertThat(floats(read(floats(1, 2)).get(0).input())).containsExactly(29.25f, 66.75f);
        forms("image: {channels: gray, resize: {height: 2, width: 2, fit: cover, method: nearest}}");
        assertThat(floats(read(floats(2, 2)).get(0).input())).containsExactly(48f, 48f, 48f, 48f);
        forms("image: {channels: gray, resize: {height: 3, width: 3, fit: contain, fill: 7}}");
        assertThat(floats(read(floats(3, 3)).get(0).input())).containsExactly(7f, 7f, 7f, 18f, 48f, 78f, 7f, 7f, 7f);
        forms("image: {channels: gray, resize: {height: 1, width: 6, method: bilinear}}");
        assertThat(floats(read(floats(1, 6)).get(0).input())).containsExactly(18f, 25.5f, 40.5f, 55.5f, 70.5f, 78f);
    }

    @ParameterizedTest
    @CsvSource({
        "INT8, 0.5, -128, -92 -32 28",
        "UINT8, 1, 0, 18 48 78",
        "UINT8, 0, 0, 18 48 78",
        "INT8, 0.125, 0, 127 127 127",
        "INT8, 20, 3, 4 5 7",
    })
    void integersAreQuantized(DType type, float scale, int zeroPoint, String expected) throws IOException {
        picture("a.png");
        forms("image: {channels: gray}");

        byte[] bytes = read(input(type, scale, zeroPoint, 1, 3)).get(0).input().toArray();

        assertThat(Arrays.stream(expected.split(" ")).map(Byte::valueOf)).containsExactly(bytes[0], bytes[1], bytes[2]);
    }

    @Test
    void foldersAreClasses() throws IOException {
        picture("dog/a.PNG");
        picture("cat/b.png");
        picture("cat/a.png");
        Files.createDirectory(folder.resolve("empty"));
        forms("image: {}");

        List<MediaSample> samples = read(floats(1, 3, 3));

        assertThat(samples).extracting(MediaSample::name).containsExactly("cat/a.png", "cat/b.png", "dog/a.PNG");
        assertThat(samples)
                .extracting(MediaSample::label)
                .containsExactly(Optional.of(0), Optional.of(0), Optional.of(1));
        picture("c.png");
        assertThat(read(floats(1, 3, 3)))
                .extracting(MediaSample::name, MediaSample::label)
                .containsExactly(tuple("c.png", Optional.empty()));
    }

    private void recording(String name, int rate, short... samples) throws IOException {
        ByteBuffer wav = ByteBuffer.allocate(44 + 2 * samples.length).order(ByteOrder.LITTLE_ENDIAN);
        wav.put("RIFF".getBytes(StandardCharsets.US_ASCII)).putInt(36 + 2 * samples.length);
        wav.put("WAVEfmt ".getBytes(StandardCharsets.US_ASCII)).putInt(16);
        wav.putShort((short) 1).putShort((short) 1).putInt(rate).putInt(2 * rate);
        wav.putShort((short) 2).putShort((short) 16);
        wav.put("data".getBytes(StandardCharsets.US_ASCII)).putInt(2 * samples.length);
        wav.asShortBuffer().put(samples);
        Files.write(folder.resolve(name), wav.array());
    }

    @Test
    void aRecordingBecomesTheInputAsDescribed() throws IOException {
        recording("a.wav", 8000, (short) 1000, (short) -2000);
        forms("sound: {sampleRate: 8000, normalize: {divide: 1000}}");

        assertThat(floats(read(floats(1, 3)).get(0).input())).containsExactly(1f, -2f, 0f);
        assertThat(floats(read(floats(1, 1)).get(0).input())).containsExactly(1f);
        forms("sound: {sampleRate: 16000}");
        refused(floats(1, 3), "1 channels of 16 bits at 8000 Hz");
    }

    /** Features of floats are those whose quantization the image computes. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "log: {offset: 1e-6}| 0.05",
                "log: {offset: 1e-6}; dct: {coefficients: 5}; normalize: {mean: [-9, 1, 2, 3, 4], scale: [0.5, 1, 2, 3, 4]}| 0.25",
                "normalize: {scale: 3}| 2",
            })
    void recordingsBecomeFeaturesIfTheModelHasSignalProcessing(String stages, float scale) throws IOException {
        Path description = folder.resolve("m.preprocess.yaml");
        Files.writeString(
                description,
                "schema: 1\nsampleRate: 8000\nframes: {window: 64, hop: 32}\nmel: {channels: 8}\n"
                        + stages.replace("; ", "\n") + "\n");
        short[] samples = new short[96];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = (short) (12_000 * Math.sin(i * 0.9) + 300 * (i % 7));
        }
        recording("a.wav", 8000, samples);
        Preprocessing processing = Preprocessing.read(description);
        MediaFolder media = new MediaFolder(folder, Optional.of(processing));
        int features = stages.contains("dct") ? 5 : 8;

        List<Float> real =
                floats(media.read(List.of(floats(1, 2, features))).get(0).input());
        Bytes whole = media.read(List.of(input(DType.INT16, scale, 3, 1, 2, features)))
                .get(0)
                .input();

        for (int i = 0; i < real.size(); i++) {
            double steps = whole.buffer().order(ByteOrder.LITTLE_ENDIAN).getShort(2 * i);
            assertThat((double) real.get(i) / scale + 3).isCloseTo(steps, within(0.5002));
        }
        assertThat(real).doesNotHaveDuplicates();
    }

    @Test
    void whatDoesNotFitIsRefused() throws IOException {
        assertThat(read(floats(1, 3, 3))).isEmpty();
        picture("a.png");
        refused(floats(1, 3, 3), "nothing says how a.png becomes the model's input `x` float32[1, 3, 3]");
        forms("image: {}");
        refused(floats(1, 4, 3), "a picture of 1 x 3 with 3 channels does not fill the input");
        refused(input(DType.INT32, 0, 0, 1, 3, 3), "of a type that is none of pictures");
        assertThatThrownBy(() -> read(floats(1), floats(1))).hasMessageContaining("the model has 2 inputs");
        refused(floats(1 << 14, 1 << 14), "more than 256 MiB");
        forms("image: {crop: {height: 2, width: 1}}");
        refused(floats(1, 1, 3), "is smaller than crop, which is 2 x 1");
        forms("image: {layout: nchw}");
        refused(floats(1, 3, 3), "does not fill");
        Files.writeString(folder.resolve("b.png"), "no picture");
        forms("image: {}");
        refused(floats(1, 3, 3), "b.png: this is neither PNG nor JPEG");
    }

    @Test
    void everyMistakeInADescriptionIsReportedWithItsPlace() throws IOException {
        picture("a.png");
        forms("image:", "  resize: {height: 0, width: 5}", "  colours: rgb");
        assertThatThrownBy(() -> read(floats(1, 3, 3)))
                .hasMessageContaining("samples.yaml:3:12: image.resize.height")
                .hasMessageContaining("samples.yaml:4:3: unknown key \"colours\"");
        forms("image:", "  normalize: {divide: 0, mean: [1, 2], std: [1, 0, 1]}");
        assertThatThrownBy(() -> read(floats(1, 3, 3)))
                .hasMessageContaining("samples.yaml:3:15: what is divided by is 0")
                .hasMessageContaining("2 numbers for 3 channels")
                .hasMessageContaining("samples.yaml:3:40: what is divided by is 0");
        forms("image: {normalize: {mean: 1e99}}");
        refused(floats(1, 3, 3), "the number 1e99 is too large");
        forms();
        refused(floats(1, 3, 3), "samples.yaml");
    }
}
