// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TflWideSoftmaxTest {
    /** TensorFlow Lite Micro makes the tables in single precision, in which these two are 24966 and 20816. */
    @Test
    void tablesAreMadeInDoublePrecision() {
        int[] reciprocals = TflWideSoftmax.reciprocals();
        assertThat(reciprocals[160]).isEqualTo(24_967);
        assertThat(reciprocals[294]).isEqualTo(20_815);
    }

    @Test
    void tablesBeginAndEndAtTheFunctionsValues() {
        assertThat(TflWideSoftmax.exponentials()).hasSize(513).startsWith(2).endsWith(Short.MAX_VALUE);
        assertThat(TflWideSoftmax.reciprocals())
                .hasSize(513)
                .startsWith(Short.MAX_VALUE)
                .endsWith(1 << 14);
    }
}
