// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.flow.verify.TestCases.TestCase;
import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TestCasesTest {
    private static final TensorInfo A = new TensorInfo("a", "a", DType.INT8, List.of(1, 3), 0.5f, -7);
    private static final TensorInfo B = new TensorInfo("b", "b", DType.FLOAT32, List.of(2), 0, 0);

    @TempDir
    Path folder;

    @Test
    void vectorsAreReadInTheOrderOfTheirNumbers() throws IOException {
        for (int k : new int[] {10, 2, 0}) {
            Files.write(folder.resolve("input_" + k + ".bin"), new byte[] {(byte) k, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0});
        }
        Files.write(folder.resolve("output_2.bin"), new byte[] {9, 8, 7});
        Files.write(folder.resolve("notes.txt"), new byte[1]);
        List<TestCase> cases = TestCases.vectors(folder, List.of(A, B), List.of(A));
        assertThat(cases).extracting(TestCase::name).containsExactly("vector_0", "vector_2", "vector_10");
        assertThat(cases.get(1).inputs())
                .containsExactly(Bytes.copyOf(new byte[] {2, 2, 3}), Bytes.copyOf(new byte[8]));
        assertThat(cases.get(1).givenOutputs()).contains(List.of(Bytes.copyOf(new byte[] {9, 8, 7})));
        assertThat(cases.get(0).givenOutputs()).isEmpty();
    }

    @Test
    void everyVectorOfAWrongSizeIsNamed() throws IOException {
        Files.write(folder.resolve("input_0.bin"), new byte[3]);
        Files.write(folder.resolve("input_1.bin"), new byte[12]);
        assertThatThrownBy(() -> TestCases.vectors(folder, List.of(A, B), List.of(A)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("input_0.bin: has 3 bytes; expected 11 bytes: a int8[1, 3] then b float32[2]")
                .hasMessageContaining("input_1.bin: has 12 bytes");
    }

    @Test
    void aFolderWithoutVectorsIsAnError() {
        assertThatThrownBy(() -> TestCases.vectors(folder, List.of(A), List.of(A)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there are no test vectors");
    }

    @Test
    void theSameSeedGivesTheSameBytes() {
        assertThat(TestCases.random(3, 42, List.of(A, B))).isEqualTo(TestCases.random(3, 42, List.of(A, B)));
        assertThat(TestCases.random(1, 42, List.of(A, B))).isNotEqualTo(TestCases.random(1, 43, List.of(A, B)));
    }

    @Test
    void randomIntegersCoverTheirRange() {
        TensorInfo wide = new TensorInfo("w", "w", DType.INT8, List.of(20_000), 1, 0);
        byte[] bytes =
                TestCases.random(1, 1, List.of(wide)).get(0).inputs().get(0).toArray();
        boolean[] seen = new boolean[256];
        for (byte b : bytes) {
            seen[b + 128] = true;
        }
        assertThat(seen).doesNotContain(false);
    }

    @Test
    void everySecondCaseHasSpecialFloatsAndRowsOfEqualOnes() {
        TensorInfo rows = new TensorInfo("x", "x", DType.FLOAT32, List.of(64, 8), 0, 0);
        List<TestCase> plain = TestCases.random(4, 7, List.of(A, rows));
        List<TestCase> cases = TestCases.withSpecialFloats(plain, 7, List.of(A, rows), "c -mcpu=cortex-m33");

        for (int k = 0; k < 4; k++) {
            assertThat(cases.get(k).inputs().get(0))
                    .isEqualTo(plain.get(k).inputs().get(0));
        }
        assertThat(List.of(cases.get(0), cases.get(2))).isEqualTo(List.of(plain.get(0), plain.get(2)));
        List<Float> special = floats(cases.get(3));
        assertThat(special)
                .contains(Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f, Float.MIN_VALUE, -1e-40f);
        assertThat(special.stream().filter(floats(plain.get(3))::contains).count())
                .isGreaterThan(64 * 8 * 3 / 4);
        assertThat(IntStream.range(0, 64)
                        .filter(row -> special.subList(8 * row, 8 * row + 8).stream()
                                        .distinct()
                                        .count()
                                == 1))
                .hasSizeBetween(1, 20);
    }

    /** Their vector instructions count them as 0, and the reference interpreter does not. */
    @Test
    void coresWithMveGetNoDenormalFloats() {
        TensorInfo rows = new TensorInfo("x", "x", DType.FLOAT32, List.of(64, 8), 0, 0);
        List<TestCase> cases = TestCases.withSpecialFloats(
                TestCases.random(20, 7, List.of(A, rows)), 7, List.of(A, rows), "c -mcpu=cortex-m55");
        List<Float> all = cases.stream().flatMap(each -> floats(each).stream()).toList();
        assertThat(all).contains(Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f, 0f, Float.MAX_VALUE);
        assertThat(all).noneMatch(value -> value != 0 && Math.abs(value) < Float.MIN_NORMAL);
    }

    private static List<Float> floats(TestCase of) {
        FloatBuffer values = of.inputs().get(1).buffer().asFloatBuffer();
        return Stream.generate(values::get).limit(values.capacity()).toList();
    }

    @Test
    void theZeroCaseHoldsZeroPoints() {
        assertThat(TestCases.zero(List.of(A, B)).inputs())
                .containsExactly(Bytes.copyOf(new byte[] {-7, -7, -7}), Bytes.copyOf(new byte[8]));
    }
}
