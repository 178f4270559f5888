// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.ir.op.Rounding;
import io.kiln.lower.RequantizeSteps.RequantizeInverse;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RequantizeStepsTest {
    /** With every shift, multipliers at both ends of their range, and accumulators up to 32 bits. */
    @ParameterizedTest
    @EnumSource(
            value = Rounding.class,
            names = {"TFLITE", "UPWARD", "TONEAREST"})
    void theFormulaStepsWhereTheReferenceDoes(Rounding rounding) {
        Random random = new Random(5);
        for (int shift = -31; shift <= 30; shift++) {
            for (int i = 0; i < 60; i++) {
                int[] multipliers = {
                    1,
                    3,
                    1 << 30,
                    (1 << 30) + 1,
                    Integer.MAX_VALUE,
                    (1 << 30) | random.nextInt(),
                    random.nextInt(1 << 30) + 1
                };
                int multiplier = multipliers[random.nextInt(multipliers.length)] & Integer.MAX_VALUE;
                long most = Integer.MAX_VALUE >> Math.max(0, shift);
                long bound = random.nextInt(4) == 0 ? most / 2 : random.nextInt((int) Math.min(100_000, most / 2) + 1);
                int bias = ((int) (random.nextDouble() * (most - bound))) * (random.nextBoolean() ? 1 : -1);
                int zero = random.nextInt(256) - 128;
                Requantization r =
                        new Requantization(List.of(multiplier), List.of(shift), 0, zero, DType.INT8, rounding);
                ProvenRequantize.Reference reference = new ProvenRequantize.Reference(r, List.of(bias), -128, 127);

                assertThat(RequantizeInverse.of(r, 0, bound + Math.abs((long) bias)))
                        .isPresent();
                assertThat(RequantizeSteps.of(reference, 0, bound))
                        .as("%s, bias %d, bound %d", r, bias, bound)
                        .isEqualTo(RequantizeSteps.searched(reference, 0, bound));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Rounding.class,
            names = {"TFLITE", "UPWARD", "TONEAREST"})
    void theFormulaStepsWhereTheReferenceDoesAtEverySmallAccumulator(Rounding rounding) {
        for (int shift = -4; shift <= 2; shift++) {
            for (int multiplier : new int[] {1 << 30, (1 << 30) + 1, 1_500_000_000, Integer.MAX_VALUE}) {
                Requantization r = new Requantization(List.of(multiplier), List.of(shift), 0, 0, DType.INT8, rounding);
                RequantizeInverse inverse = RequantizeInverse.of(r, 0, 1000).orElseThrow();
                for (int value = -60; value <= 60; value++) {
                    int least = value;
                    int first = IntStream.rangeClosed(-1000, 1000)
                            .filter(x -> r.rescale(0, x) >= least)
                            .findFirst()
                            .orElse(1001);
                    assertThat(Math.max(-1000, Math.min(1001, inverse.firstAtLeast(value))))
                            .as("%s at %d", r, value)
                            .isEqualTo(first);
                }
            }
        }
    }
}
