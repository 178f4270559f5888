// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How golden answers are compared: every output by its own type. */
class GoldenModelsTest {
    private static final TensorType REAL = new TensorType(Shape.of(1), DType.FLOAT32);
    private static final TensorType WHOLE = new TensorType(Shape.of(4), DType.INT8);

    private static Bytes bytes(int whole, float... reals) {
        ByteBuffer buffer = ByteBuffer.allocate(4 + 4 * reals.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float real : reals) {
            buffer.putFloat(real);
        }
        return Bytes.wrap(buffer.putInt(whole).array());
    }

    @Test
    void integersBehindAFloatMustBeEqual() {
        List<TensorType> outputs = List.of(REAL, WHOLE);
        assertThat(GoldenModels.agree(bytes(0x3F800000, 1), bytes(0x3F800000, 1.00001f), outputs))
                .isTrue();
        assertThat(GoldenModels.agree(bytes(0x3F800000, 1), bytes(0x3F800001, 1), outputs))
                .isFalse();
    }

    @Test
    void floatsBehindIntegersAreHeldAgainstTheirTolerance() {
        Bytes expected = Bytes.wrap(new byte[] {1, 2, 3, 4, 0, 0, (byte) 0x80, 0x3F});
        Bytes near = Bytes.wrap(new byte[] {1, 2, 3, 4, 1, 0, (byte) 0x80, 0x3F});
        Bytes far = Bytes.wrap(new byte[] {1, 2, 3, 4, 0, 0, (byte) 0x81, 0x3F});
        assertThat(GoldenModels.agree(expected, near, List.of(WHOLE, REAL))).isTrue();
        assertThat(GoldenModels.agree(expected, far, List.of(WHOLE, REAL))).isFalse();
    }

    @Test
    void everyCaseCounts() {
        List<TensorType> outputs = List.of(REAL);
        Bytes expected = bytes(0x3F800000, 1, 2);
        assertThat(GoldenModels.agree(expected, bytes(0x3F800001, 1, 2), outputs))
                .isTrue();
        assertThat(GoldenModels.agree(expected, bytes(0x3F800000, 1, 3), outputs))
                .isFalse();
        assertThat(GoldenModels.agree(bytes(0, Float.NaN), bytes(0, Float.NaN), outputs))
                .isTrue();
        assertThat(GoldenModels.agree(bytes(0, Float.NaN), bytes(0, 1), outputs))
                .isFalse();
        assertThat(GoldenModels.agree(expected, bytes(0x3F800000, 1), outputs)).isFalse();
    }

    @Test
    void anInfiniteValueDemandsTheSame() {
        List<TensorType> outputs = List.of(REAL);
        Bytes expected = bytes(0, Float.POSITIVE_INFINITY);
        assertThat(GoldenModels.agree(expected, expected, outputs)).isTrue();
        assertThat(GoldenModels.agree(expected, bytes(0, 1), outputs)).isFalse();
        assertThat(GoldenModels.agree(expected, bytes(0, Float.NEGATIVE_INFINITY), outputs))
                .isFalse();
    }
}
