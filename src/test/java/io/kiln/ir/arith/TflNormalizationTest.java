// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The fixed point of normalizations against real numbers: near them, as bits are held against TensorFlow Lite elsewhere. */
class TflNormalizationTest {
    private static final int CASES = 100_000;

    @Test
    void logarithmsAreNearReal() {
        Random random = new Random(3);
        for (int i = 0; i < CASES; i++) {
            int x = Math.max(1 << 19, random.nextInt(Integer.MAX_VALUE) >> random.nextInt(12));
            assertThat(TflNormalization.logarithm(x) * 0x1p-26)
                    .as("%d", x)
                    .isCloseTo(Math.log(x * 0x1p-19), within(1e-5));
        }
    }

    @Test
    void inverseRootsAreNearReal() {
        Random random = new Random(4);
        for (int i = 0; i < CASES; i++) {
            int x = 2 + (random.nextInt(Integer.MAX_VALUE - 2) >> random.nextInt(30));
            QuantizedMultiplier inverse = InverseSquareRoot.of(x);
            double real = Math.scalb((double) inverse.multiplier(), inverse.shift() - 31);
            assertThat(real * Math.sqrt(x)).as("%d", x).isCloseTo(1, within(1e-5));
        }
    }

    @Test
    void differencesStopWhereNoLogarithmLeadsOutOf32Bits() {
        for (float scale : new float[] {0x1p-25f, 0.01f, 1, 40}) {
            int[] differences = TflNormalization.differences(scale);
            assertThat(differences).hasSize(256).startsWith(0);
            assertThat(differences[255]).isBetween(-20 << 26, 0);
        }
    }
}
