// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class TflSoftmaxTablesTest {
    @Test
    void exponentialsApproximateTheRealFunction() {
        for (float scale : new float[] {0.001f, 0.05f, 0.3f, 2.0f}) {
            int[] table = TflSoftmaxTables.exponentials(1.0f, scale);
            for (int d = 0; d < table.length; d++) {
                assertThat(table[d] / (double) (1L << 31)).isCloseTo(Math.exp(-scale * (double) d), within(1e-6));
            }
        }
    }

    @Test
    void differencesOutsideTheFixedPointRangeCountAsZero() {
        int[] table = TflSoftmaxTables.exponentials(1.0f, 1.0f);
        assertThat(table[0]).isEqualTo(Integer.MAX_VALUE);
        assertThat(table[32]).isZero();
        assertThat(table[255]).isZero();
    }

    @Test
    void reciprocalDividesOne() {
        int one = 1 << 19;
        for (int sum = one; sum > 0 && sum < 511 * one; sum += 12_345_678) {
            double real = sum / (double) one;
            int shift = TflSoftmaxTables.outputShift(sum, 8) - 23;
            double reciprocal = TflSoftmaxTables.reciprocal(sum) / (double) (1L << 31) / (1 << shift);
            assertThat(reciprocal).isCloseTo(1 / real, within(1e-8));
        }
    }

    @Test
    void scaleWithoutFixedPointFormIsRefused() {
        assertThatThrownBy(() -> TflSoftmaxTables.exponentials(1.0f, 1e-9f))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2^-26");
    }
}
