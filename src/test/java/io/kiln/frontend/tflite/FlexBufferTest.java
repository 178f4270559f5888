// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.flatbuffers.ArrayReadWriteBuf;
import com.google.flatbuffers.FlexBuffersBuilder;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.flatbuffer.FlexBuffer;
import io.kiln.frontend.tflite.operator.CustomOptions;
import io.kiln.frontend.tflite.tensor.PlaceFindings;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Options of custom operators: what the library writes is read, and bytes that are no options are refused. */
class FlexBufferTest {
    private static final Map<String, Object> OPTIONS = Map.of(
            "fft_length", 512, "shift", -12, "wide", 1L << 40, "prefill", true, "threshold", 0.5f, "name", "hann");

    private static Map<String, Object> read(Bytes content) {
        return FlexBuffer.read(content, () -> "operator #0");
    }

    @Test
    void mapsOfNumbersAndTextAreRead() {
        assertThat(read(FlexOptions.of(OPTIONS)))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "fft_length",
                        512L,
                        "shift",
                        -12L,
                        "wide",
                        1L << 40,
                        "prefill",
                        1L,
                        "threshold",
                        0.5,
                        "name",
                        "hann"));
        assertThat(read(FlexOptions.of(Map.of("a", -1, "b", 0.1))))
                .containsExactly(Map.entry("a", -1L), Map.entry("b", 0.1));
        assertThat(read(FlexOptions.of(Map.of()))).isEmpty();
        assertThat(read(Bytes.wrap(new byte[0]))).isEmpty();
    }

    @Test
    void valuesOfOtherKindsAreLeftOut() {
        FlexBuffersBuilder builder = new FlexBuffersBuilder();
        int map = builder.startMap();
        int vector = builder.startVector();
        builder.putInt(1);
        builder.endVector("list", vector, false, false);
        builder.putBlob("bytes", new byte[] {1, 2});
        builder.putInt("n", 3);
        builder.endMap(null, map);
        assertThat(read(bytes(builder.finish()))).containsExactly(Map.entry("n", 3L));
    }

    /** The bytes that TensorFlow Lite Micro's own test of a window has: {@code shift} is 12. */
    @Test
    void whatTensorFlowWritesIsRead() {
        byte[] options = {'s', 'h', 'i', 'f', 't', 0, 1, 7, 1, 1, 1, 12, 4, 2, 36, 1};
        assertThat(read(Bytes.wrap(options))).containsExactly(Map.entry("shift", 12L));
    }

    @Test
    void whatIsNoMapIsRefused() {
        FlexBuffersBuilder builder = new FlexBuffersBuilder(new ArrayReadWriteBuf(16), 0);
        builder.putInt(7);
        assertThatThrownBy(() -> read(bytes(builder.finish())))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("operator #0")
                .hasMessageContaining("the options are not a map")
                .hasMessageContaining("Export the model again");
    }

    @Test
    void tooManyValuesAreRefused() {
        FlexBuffersBuilder builder = new FlexBuffersBuilder();
        int map = builder.startMap();
        for (int i = 0; i < 300; i++) {
            builder.putInt("k" + i, i);
        }
        builder.endMap(null, map);
        Bytes content = bytes(builder.finish());
        assertThatThrownBy(() -> read(content)).hasMessageContaining("a map of 300 values");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1",
                "2, 9",
                "0, 36, 1",
                "200, 36, 1",
                "0, 36, 3",
                "0, 36, 0",
                "-1, -1, -1, -1, -1, -1, -1, -1, 36, 8"
            })
    void fewBytesAreRefused(String list) {
        String[] numbers = list.split(", ", -1);
        byte[] content = new byte[numbers.length];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) Integer.parseInt(numbers[i]);
        }
        assertThatThrownBy(() -> read(Bytes.wrap(content)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("custom options are corrupt at byte");
    }

    /** Whatever is wrong with the bytes, they are read or refused, with nothing but the message for users. */
    @Test
    void spoiledBytesAreReadOrRefused() {
        byte[] whole = FlexOptions.of(OPTIONS).toArray();
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] spoiled = Arrays.copyOf(whole, random.nextInt(4) == 0 ? random.nextInt(whole.length) : whole.length);
            for (int k = random.nextInt(3); k >= 0 && spoiled.length > 0; k--) {
                int at = random.nextBoolean()
                        ? random.nextInt(spoiled.length)
                        : spoiled.length - 1 - random.nextInt(Math.min(24, spoiled.length));
                spoiled[at] = (byte) random.nextInt();
            }
            try {
                read(Bytes.wrap(spoiled));
            } catch (KilnException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1_000, 19_999);
    }

    @Test
    void wrongOptionsAreAllTold() {
        PlaceFindings findings = new PlaceFindings(() -> "operator #0");
        CustomOptions options = new CustomOptions(
                read(FlexOptions.of(Map.of("size", 7, "name", "x", "real", Float.NaN, "on", 2))), findings);
        assertThat(options.integer("size", 1, 8)).isEqualTo(7);
        assertThat(options.integer("other", 1, 8, 5)).isEqualTo(5);
        assertThat(options.truth("other", true)).isTrue();
        assertThat(options.real("size")).isEqualTo(7f);
        assertThat(options.real("other", 0.5f)).isEqualTo(0.5f);
        assertThat(findings.count()).isZero();
        options.integer("size", 8, 9);
        options.integer("name", 0, 9);
        options.integer("missing", 0, 9);
        options.truth("on");
        options.real("real");
        options.real("name");
        assertThat(findings.exception().problems())
                .extracting(problem -> problem.what())
                .containsExactly(
                        "its option size is 7",
                        "its option name is x",
                        "its option missing is missing",
                        "its option on is 2",
                        "its option real is NaN",
                        "its option name is x");
    }

    private static Bytes bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return Bytes.wrap(bytes);
    }
}
