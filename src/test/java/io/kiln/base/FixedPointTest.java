// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FixedPointTest {
    private static int exactHighMul(int a, int b) {
        BigDecimal product = new BigDecimal(BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)));
        BigDecimal half = new BigDecimal("0.5");
        return product.divide(BigDecimal.valueOf(1L << 31))
                .add(half)
                .setScale(0, RoundingMode.FLOOR)
                .intValueExact();
    }

    @Test
    void theHighMultiplyRoundsHalvesUp() {
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            int a = random.nextInt() >> random.nextInt(20);
            int b = random.nextInt();
            assertThat(FixedPoint.saturatingRoundingDoublingHighMul(a, b)).isEqualTo(exactHighMul(a, b));
        }
        assertThat(FixedPoint.saturatingRoundingDoublingHighMul(Integer.MIN_VALUE, Integer.MIN_VALUE))
                .isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void theShiftRoundsHalvesAwayFromZero() {
        Random random = new Random(2);
        for (int i = 0; i < 20_000; i++) {
            int x = random.nextInt() >> random.nextInt(30);
            int exponent = random.nextInt(32);
            int expected = new BigDecimal(x)
                    .divide(BigDecimal.valueOf(1L << exponent))
                    .setScale(0, RoundingMode.HALF_UP)
                    .intValueExact();
            assertThat(FixedPoint.roundingDivideByPot(x, exponent)).isEqualTo(expected);
        }
    }

    /** Many products here lie halfway between two integers, on both sides of zero. */
    @Test
    void tvmsRescalingRoundsOnce() {
        Random random = new Random(4);
        int halves = 0;
        for (int i = 0; i < 20_000; i++) {
            int shift = random.nextInt(62) - 31;
            int x = random.nextInt() >> random.nextInt(31);
            int multiplier = random.nextBoolean() ? 1 << 30 : (1 << 30) + random.nextInt(1 << 30);
            BigDecimal exact = BigDecimal.valueOf(x)
                    .multiply(BigDecimal.valueOf(multiplier))
                    .divide(BigDecimal.valueOf(1L << (31 - shift)));
            BigDecimal half = new BigDecimal("0.5");
            halves += exact.remainder(BigDecimal.ONE).abs().compareTo(half) == 0 ? 1 : 0;
            assertThat(FixedPoint.multiplyRoundingUpward(x, multiplier, shift))
                    .isEqualTo(exact.add(half).setScale(0, RoundingMode.FLOOR).longValueExact());
            assertThat(FixedPoint.multiplyRoundingAway(x, multiplier, shift))
                    .isEqualTo(exact.setScale(0, RoundingMode.HALF_UP).longValueExact());
        }
        assertThat(halves).isGreaterThan(100);
    }

    @Test
    void aMultiplierComesBackWithinItsPrecision() {
        Random random = new Random(3);
        for (int i = 0; i < 5_000; i++) {
            double real = Math.scalb(random.nextDouble() + 0.5, random.nextInt(50) - 28);
            QuantizedMultiplier q = QuantizedMultiplier.of(real);
            assertThat(q.multiplier()).isGreaterThanOrEqualTo(1 << 30);
            assertThat(Math.abs(Math.scalb((double) q.multiplier(), q.shift() - 31) / real - 1))
                    .isLessThanOrEqualTo(Math.scalb(1.0, -31));
        }
    }

    @Test
    void aMultiplierOverACountIsTheQuotientCutToTheBitsThatFit() {
        Random random = new Random(5);
        for (int i = 0; i < 20_000; i++) {
            int count = 1 + (random.nextInt() >>> (8 + random.nextInt(20)));
            QuantizedMultiplier whole =
                    QuantizedMultiplier.of(Math.scalb(0.5 + random.nextDouble() / 2, -random.nextInt(9)));
            QuantizedMultiplier part = whole.dividedBy(count);
            double exact = Math.scalb(whole.multiplier() / (double) count, whole.shift());
            double found = Math.scalb((double) part.multiplier(), part.shift());
            assertThat(exact - found).isBetween(0.0, Math.scalb(1.0, part.shift()));
            assertThat(part.multiplier()).isBetween(1 << 29, Integer.MAX_VALUE);
            assertThat(part.shift()).isBetween(-31, whole.shift());
        }
        assertThat(new QuantizedMultiplier(1 << 30, -31).dividedBy(3))
                .isEqualTo(new QuantizedMultiplier((1 << 30) / 3, -31));
    }

    @Test
    void multipliersBeyondTheRangeBecomeZeroOrSaturate() {
        assertThat(QuantizedMultiplier.of(0)).isEqualTo(new QuantizedMultiplier(0, 0));
        assertThat(QuantizedMultiplier.of(Math.scalb(1.0, -40))).isEqualTo(new QuantizedMultiplier(0, 0));
        assertThat(QuantizedMultiplier.of(Double.MIN_VALUE)).isEqualTo(new QuantizedMultiplier(0, 0));
        assertThat(QuantizedMultiplier.of(Math.scalb(1.0, 40)))
                .isEqualTo(new QuantizedMultiplier(Integer.MAX_VALUE, 30));
        assertThat(QuantizedMultiplier.of(1.0 - Math.scalb(1.0, -40))).isEqualTo(new QuantizedMultiplier(1 << 30, 1));
        assertThatThrownBy(() -> QuantizedMultiplier.of(Double.NaN)).hasMessageContaining("finite");
    }
}
