// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.flow.verify.VerificationCases.Comparison;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ComparisonTest {
    @Test
    void equalIntegersAreBitExact() {
        Comparison same = ints(new byte[] {1, -2, 3}, new byte[] {1, -2, 3});
        assertThat(same).isEqualTo(new Comparison(3, 0, 0, true, ""));
    }

    @Test
    void oneStepOffIsAMismatchForIntegers() {
        Comparison off = ints(new byte[] {1, -1, 3}, new byte[] {1, -2, 127});
        assertThat(off).isEqualTo(new Comparison(3, 2, 124, false, "y[1] is -1 instead of -2"));
    }

    @Test
    void largeInt64ValuesThatDoublesCannotTellApartDiffer() {
        TensorInfo y = new TensorInfo("y", "y", DType.INT64, List.of(1), 0, 0);
        Bytes a = longs(Long.MAX_VALUE);
        Bytes b = longs(Long.MAX_VALUE - 1);
        assertThat(Comparison.of(List.of(y), List.of(a), List.of(b)).mismatches())
                .isEqualTo(1);
    }

    @Test
    void uint64IsComparedAndShownWithoutASign() {
        TensorInfo y = new TensorInfo("y", "y", DType.UINT64, List.of(2), 0, 0);
        Bytes a = longs(-1, 7);
        assertThat(Comparison.of(List.of(y), List.of(a), List.of(a))).isEqualTo(new Comparison(2, 0, 0, true, ""));
        Comparison off = Comparison.of(List.of(y), List.of(a), List.of(longs(-2, 7)));
        assertThat(off.mismatches()).isEqualTo(1);
        assertThat(off.first()).isEqualTo("y[0] is 18446744073709551615 instead of 18446744073709551614");
    }

    @Test
    void floatsMayDifferWithinTheTolerance() {
        Comparison near = floats(new float[] {1.00005f, 0.000009f}, new float[] {1f, 0f});
        assertThat(near.mismatches()).isZero();
        assertThat(near.bitExact()).isFalse();
        Comparison far = floats(new float[] {1.0002f, 0.00002f}, new float[] {1f, 0f});
        assertThat(far.mismatches()).isEqualTo(2);
    }

    @Test
    void whatIsNoNumberMatchesOnlyItself() {
        assertThat(floats(new float[] {Float.NaN}, new float[] {Float.NaN}).mismatches())
                .isZero();
        Comparison nan = floats(new float[] {Float.NaN}, new float[] {1f});
        assertThat(nan.mismatches()).isEqualTo(1);
        assertThat(nan.maxAbsDiff()).isEqualTo(Double.MAX_VALUE);
        assertThat(floats(new float[] {Float.MAX_VALUE}, new float[] {Float.POSITIVE_INFINITY})
                        .mismatches())
                .isEqualTo(1);
    }

    private static Bytes longs(long... values) {
        ByteBuffer buffer = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            buffer.putLong(value);
        }
        return Bytes.wrap(buffer.array());
    }

    private static Comparison ints(byte[] actual, byte[] expected) {
        TensorInfo y = new TensorInfo("y", "y", DType.INT8, List.of(actual.length), 1, 0);
        return Comparison.of(List.of(y), List.of(Bytes.copyOf(actual)), List.of(Bytes.copyOf(expected)));
    }

    private static Comparison floats(float[] actual, float[] expected) {
        TensorInfo y = new TensorInfo("y", "y", DType.FLOAT32, List.of(actual.length), 0, 0);
        return Comparison.of(List.of(y), List.of(bytes(actual)), List.of(bytes(expected)));
    }

    private static Bytes bytes(float[] values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putFloat(value);
        }
        return Bytes.wrap(buffer.array());
    }
}
