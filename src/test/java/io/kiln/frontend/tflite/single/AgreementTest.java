// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** No float of a tensor, however large, excuses a wrong one. */
class AgreementTest {
    private static final float MOST = Float.MAX_VALUE;
    private static final float INFINITE = Float.POSITIVE_INFINITY;

    private static Bytes floats(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putFloat(value);
        }
        return Bytes.wrap(buffer.array());
    }

    private static boolean agree(float expected, float actual) {
        return Agreement.difference(DType.FLOAT32, floats(1, expected), floats(1, actual))
                .isEmpty();
    }

    private static boolean agreesWithOracle(float expected, float actual) {
        return Agreement.differenceFromOracle(DType.FLOAT32, floats(1, expected), floats(1, actual))
                .isEmpty();
    }

    @Test
    void anInfiniteValueDemandsTheSame() {
        assertThat(agree(INFINITE, INFINITE)).isTrue();
        assertThat(agree(INFINITE, 1)).isFalse();
        assertThat(agree(INFINITE, MOST)).isFalse();
        assertThat(agree(MOST, INFINITE)).isFalse();
        assertThat(agree(-INFINITE, INFINITE)).isFalse();
        assertThat(agree(INFINITE, Float.NaN)).isFalse();
        assertThat(agree(Float.NaN, Float.NaN)).isTrue();
        assertThat(agree(-0f, 0f)).isTrue();
    }

    @Test
    void theOracleLimitsWhatOverflows() {
        assertThat(agreesWithOracle(INFINITE, MOST)).isTrue();
        assertThat(agreesWithOracle(-MOST, -INFINITE)).isTrue();
        assertThat(agreesWithOracle(INFINITE, 1)).isFalse();
        assertThat(agreesWithOracle(INFINITE, -INFINITE)).isFalse();
    }

    @Test
    void theLargestFloatDoesNotExcuseOthers() {
        assertThat(Agreement.difference(DType.FLOAT32, floats(MOST, 1), floats(MOST, 2)))
                .isEqualTo("1 of 2 differ; element 1 is 2.0, not 1.0");
        assertThat(Agreement.difference(DType.FLOAT32, floats(1e6f, 1), floats(1e6f, 1.5f)))
                .isEmpty();
    }
}
