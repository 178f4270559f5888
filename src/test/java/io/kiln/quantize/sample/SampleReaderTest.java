// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.CrowdedZip;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.fuzz.ReaderProperty;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.sample.SampleReader.OtherSamples;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SampleReaderTest {
    private static final Parameter IMAGE = input("image", 1, 2, 2);
    private static final Parameter LEVEL = input("level", 1);

    @TempDir
    Path folder;

    private static Parameter input(String name, int... shape) {
        return new Parameter(0, name, new TensorType(Shape.of(shape), DType.FLOAT32), Optional.empty());
    }

    private static byte[] floats(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putFloat(value);
        }
        return buffer.array();
    }

    private static byte[] npy(String descr, String order, String shape, byte[] data) {
        String header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }\n";
        ByteBuffer buffer =
                ByteBuffer.allocate(10 + header.length() + data.length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put((byte) 0x93)
                .put("NUMPY".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 1)
                .put((byte) 0);
        buffer.putShort((short) header.length())
                .put(header.getBytes(StandardCharsets.US_ASCII))
                .put(data);
        return buffer.array();
    }

    private static byte[] npz(Map<String, byte[]> entries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> entry : new TreeMap<>(entries).entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(entry.getValue());
            }
        }
        return bytes.toByteArray();
    }

    private Path file(String name, byte[] content) throws IOException {
        return Files.write(folder.resolve(name), content);
    }

    private List<Sample> read(Path path, Parameter... inputs) {
        return SampleReader.read(path, Optional.empty(), List.of(inputs), OtherSamples.NONE);
    }

    private static List<Float> elements(Sample sample, int input) {
        ByteBuffer buffer = sample.inputs().get(input).buffer();
        return IntStream.range(0, buffer.remaining() / 4)
                .mapToObj(i -> buffer.getFloat(4 * i))
                .toList();
    }

    @Test
    void aFolderHoldsAllInputsOfASampleInAFile() throws IOException {
        file("input_10.bin", floats(1, 2, 3, 4, 9));
        file("input_2.bin", floats(5, 6, 7, 8, 10));
        file("notes.txt", floats());
        List<Sample> samples = read(folder, IMAGE, LEVEL);
        assertThat(samples).extracting(Sample::name).containsExactly("input_2.bin", "input_10.bin");
        assertThat(elements(samples.get(0), 0)).containsExactly(5f, 6f, 7f, 8f);
        assertThat(elements(samples.get(1), 1)).containsExactly(9f);
        assertThat(samples).allMatch(sample -> sample.label().isEmpty());
    }

    @Test
    void labelsBelongToNumbersOrNamesOfFiles() throws IOException {
        file("input_0.bin", floats(1));
        file("input_1.bin", floats(2));
        file("labels.csv", "sample,label\n1,7\ninput_0.bin, 3\n".getBytes(StandardCharsets.UTF_8));
        assertThat(read(folder, LEVEL))
                .extracting(sample -> sample.label().orElseThrow())
                .containsExactly(3, 7);
    }

    @Test
    void labelsOfOtherSamplesBelongToTheNamesOfTheirFiles() throws IOException {
        OtherSamples others = (at, inputs) -> List.of(
                new Sample("cat 7.png", List.of(Bytes.wrap(floats(1))), Optional.of(5)),
                new Sample("7.png", List.of(Bytes.wrap(floats(2))), Optional.of(6)));
        assertThat(SampleReader.read(folder, Optional.empty(), List.of(LEVEL), others))
                .extracting(sample -> sample.label().orElseThrow())
                .containsExactly(5, 6);
        Path labels = file("labels.csv", "file,label\n7.png,1\ncat 7.png, 3\n".getBytes(StandardCharsets.UTF_8));
        assertThat(SampleReader.read(folder, Optional.of(labels), List.of(LEVEL), others))
                .extracting(sample -> sample.label().orElseThrow())
                .containsExactly(3, 1);
        file("samples.yaml", new byte[0]);
        file("input_0.bin", floats(1));
        assertThatThrownBy(() -> SampleReader.read(folder, Optional.empty(), List.of(LEVEL), others))
                .hasMessageContaining("the folder has samples.yaml, for pictures and recordings, and input_0.bin");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0,1|samples have no label, the first is input_1.bin",
                "0,1;1,2;5,0|labels have no sample, the first is that of 5",
                "0,1;1,x|the line is `1,x`",
                "0,1;0,2;1,1|sample 0 has two labels"
            })
    void labelsThatDoNotMatchAreRefused(String lines, String message) throws IOException {
        file("input_0.bin", floats(1));
        file("input_1.bin", floats(2));
        Path labels = file("own.csv", lines.replace(';', '\n').getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> SampleReader.read(folder, Optional.of(labels), List.of(LEVEL), OtherSamples.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("own.csv");
    }

    @Test
    void aFileOfAnotherSizeIsRefusedWithTheSizeWanted() throws IOException {
        file("input_0.bin", floats(1, 2, 3));
        assertThatThrownBy(() -> read(folder, IMAGE))
                .hasMessageContaining("the sample has 12 bytes")
                .hasMessageContaining("16 bytes: `image` Tensor[(1, 2, 2), float32]");
    }

    @Test
    void numbersThatAreNotFiniteAreRefusedWithTheirPlace() throws IOException {
        file("input_0.bin", floats(1, 2, 3, 4));
        file("input_1.bin", floats(1, 2, Float.NaN, 4));
        file("input_2.bin", floats(1, Float.POSITIVE_INFINITY, 3, 4));
        assertThatThrownBy(() -> read(folder, IMAGE))
                .hasMessageContaining("element 2 of `image` is NaN")
                .hasMessageContaining("input_1.bin")
                .hasMessageContaining("element 1 of `image` is Infinity");
    }

    @Test
    void anEmptyFolderIsRefused() {
        assertThatThrownBy(() -> read(folder, IMAGE)).hasMessageContaining("there are no samples");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2, 2, 2", "2, 1, 2, 2"})
    void anArrayCountsSamplesInItsFirstDimension(String shape) throws IOException {
        Path file = file("a.npy", npy("<f4", "False", shape, floats(1, 2, 3, 4, 5, 6, 7, 8)));
        List<Sample> samples = read(file, IMAGE);
        assertThat(samples).hasSize(2);
        assertThat(elements(samples.get(1), 0)).containsExactly(5f, 6f, 7f, 8f);
    }

    @Test
    void doublesAndBytesBecomeFloats() throws IOException {
        ByteBuffer doubles = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        doubles.putDouble(0.1).putDouble(-2);
        List<Sample> samples = read(file("d.npy", npy("<f8", "False", "2,", doubles.array())), LEVEL);
        assertThat(elements(samples.get(0), 0)).containsExactly(0.1f);
        List<Sample> bytes = read(file("b.npy", npy("|u1", "False", "1, 1", new byte[] {(byte) 200})), LEVEL);
        assertThat(elements(bytes.get(0), 0)).containsExactly(200f);
    }

    @Test
    void anArchiveHoldsAnArrayForEachInput() throws IOException {
        Path file = file(
                "s.npz",
                npz(Map.of(
                        "level.npy", npy("<f4", "False", "2, 1", floats(8, 9)),
                        "image.npy", npy("<f4", "False", "2, 2, 2", floats(1, 2, 3, 4, 5, 6, 7, 8)))));
        List<Sample> samples = read(file, IMAGE, LEVEL);
        assertThat(elements(samples.get(1), 0)).containsExactly(5f, 6f, 7f, 8f);
        assertThat(elements(samples.get(1), 1)).containsExactly(9f);
    }

    @Test
    void arraysThatAreMissingOrDoNotFitAreRefusedTogether() throws IOException {
        Path file = file("s.npz", npz(Map.of("image.npy", npy("<f4", "False", "1, 3", floats(1, 2, 3)))));
        assertThatThrownBy(() -> read(file, IMAGE, LEVEL))
                .hasMessageContaining("the array (1, 3) does not fit input `image`")
                .hasMessageContaining("there is no array `level`");
    }

    @Test
    void arraysOfDifferentLengthAreRefused() throws IOException {
        Path file = file(
                "s.npz",
                npz(Map.of(
                        "level.npy", npy("<f4", "False", "2, 1", floats(8, 9)),
                        "image.npy", npy("<f4", "False", "1, 2, 2", floats(1, 2, 3, 4)))));
        assertThatThrownBy(() -> read(file, IMAGE, LEVEL)).hasMessageContaining("differ in their number of samples");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<f4|True|1, 1|the array is in Fortran's order",
                ">f4|False|1, 1|elements of type >f4 are not supported",
                "<f4|False|2, 1|needs 8 bytes, but 4 follow",
                "<f4|False|999999999, 999999999|larger than",
                "<f4|False|1, 1, 1, 1, 1, 1, 1, 1, 1, 1|is not supported",
                "<f4|False|-1|the header has no valid entry 'shape'",
                "O|False|1, 1|the header has no valid entry 'descr'"
            })
    void arraysThatAreHostileAreRefused(String descr, String order, String shape, String message) throws IOException {
        Path file = file("a.npy", npy(descr, order, shape, floats(1)));
        assertThatThrownBy(() -> read(file, LEVEL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message);
    }

    @Test
    void everyTruncationOfAnArchiveIsRefused() throws IOException {
        byte[] whole = npz(Map.of("level.npy", npy("<f4", "False", "1, 1", floats(8))));
        for (int length = 0; length < whole.length; length++) {
            Path file = file("t.npz", Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> read(file, LEVEL)).isInstanceOf(KilnException.class);
        }
    }

    @Test
    void everyTruncationOfAnArrayIsRefused() throws IOException {
        byte[] whole = npy("<f4", "False", "1, 1", floats(8));
        for (int length = 0; length < whole.length; length++) {
            Path file = file("t.npy", Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> read(file, LEVEL)).isInstanceOf(KilnException.class);
        }
    }

    @Test
    void anArchiveThatUnpacksToTooMuchIsRefused() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            zip.putNextEntry(new ZipEntry("level.npy"));
            byte[] block = new byte[1 << 20];
            for (int i = 0; i <= SampleReader.MAX_BYTES >> 20; i++) {
                zip.write(block);
            }
        }
        Path file = file("bomb.npz", bytes.toByteArray());
        assertThat(Files.size(file)).isLessThan(1 << 20);
        assertThatThrownBy(() -> read(file, LEVEL)).hasMessageContaining("larger than 256 MiB");
    }

    @Test
    void aDirectoryOfManyEntriesIsNotRead() throws IOException {
        Path file = file("many.npz", CrowdedZip.of(50_000, "x"));
        assertThat(ReaderProperty.holds(() -> read(file, LEVEL))).isFalse();
        assertThatThrownBy(() -> read(file, LEVEL)).hasMessageContaining("the archive has more than 1000 entries");
    }

    @Test
    void otherFilesAreRefused() throws IOException {
        Path file = file("samples.txt", new byte[4]);
        assertThatThrownBy(() -> read(file, LEVEL)).hasMessageContaining("this is not a file of samples");
        assertThatThrownBy(() -> read(folder.resolve("absent"), LEVEL))
                .hasMessageContaining("there are no samples here");
    }
}
