// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The arithmetic that preprocessing and the operators of {@code tfl.signal} share: the table of logarithms and the square root. */
class AudioArithmeticTest {
    private static final int SEGMENTS = 128;

    @Test
    void theWholeTableHasRoundedLogarithms() {
        int[] wanted = IntStream.rangeClosed(0, SEGMENTS)
                .map(i -> (int) Math.round(StrictMath.log(1 + (double) i / SEGMENTS) / StrictMath.log(2) * 65536))
                .toArray();

        assertThat(ScaledLogarithm.wholeTable()).containsExactly(wanted);
    }

    @Test
    void rootsRoundDownOrToNearest() {
        Random random = new Random(11);
        LongStream drawn = random.longs(20_000).map(value -> value >>> random.nextInt(Long.SIZE));
        LongStream edges = Arrays.stream(new long[] {0, 0xFFFF, 0x10000, 0xFFFFFFFFL, 0x1_0000_0000L})
                .flatMap(root ->
                        LongStream.of(root * root - 1, root * root, root * root + root, root * root + root + 1));
        LongStream.concat(drawn, edges).filter(value -> value != -1).forEach(value -> {
            BigInteger exact = new BigInteger(Long.toUnsignedString(value));
            BigInteger floor = exact.sqrt();
            assertThat(SquareRoot.floor(value)).as(exact.toString()).isEqualTo(floor.longValueExact());
            boolean isNearerToTheNext = exact.subtract(floor.multiply(floor)).compareTo(floor) > 0;
            long largest = exact.bitLength() <= Integer.SIZE ? 0xFFFF : 0xFFFFFFFFL;
            assertThat(Integer.toUnsignedLong(SquareRoot.of(value)))
                    .as(exact.toString())
                    .isEqualTo(Math.min(largest, floor.longValueExact() + (isNearerToTheNext ? 1 : 0)));
        });
    }
}
