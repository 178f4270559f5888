// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.ir.arith.TflInt16Softmax.Int16SoftmaxTables;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TflInt16SoftmaxTest {
    @Test
    void twoReciprocalsDependOnThePrecision() {
        int[] single = Int16SoftmaxTables.of(FloatPrecision.SINGLE).reciprocals();
        int[] reciprocals = Int16SoftmaxTables.of(FloatPrecision.DOUBLE).reciprocals();
        assertThat(single[160]).isEqualTo(24_966);
        assertThat(single[294]).isEqualTo(20_816);
        assertThat(reciprocals[160]).isEqualTo(24_967);
        assertThat(reciprocals[294]).isEqualTo(20_815);
        assertThat(IntStream.range(0, 513).filter(i -> single[i] != reciprocals[i]))
                .hasSize(2);
        assertThat(Int16SoftmaxTables.of(FloatPrecision.SINGLE).exponentials())
                .isEqualTo(Int16SoftmaxTables.of(FloatPrecision.DOUBLE).exponentials());
    }

    @ParameterizedTest
    @EnumSource
    void tablesBeginAndEndAtTheFunctionsValues(FloatPrecision precision) {
        Int16SoftmaxTables tables = Int16SoftmaxTables.of(precision);
        assertThat(tables.exponentials()).hasSize(513).startsWith(2).endsWith(Short.MAX_VALUE);
        assertThat(tables.reciprocals())
                .hasSize(513)
                .startsWith(Short.MAX_VALUE)
                .endsWith(1 << 14);
    }
}
