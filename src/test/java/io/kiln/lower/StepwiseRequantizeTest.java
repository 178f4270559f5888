// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Rounding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepwiseRequantizeTest {
    private static final int CHANNELS = 5;

    /** Channels of a deep layer. */
    private static ProvenRequantize.Reference reference(
            Random random, Rounding rounding, int exponent, List<Long> bounds) {
        List<Integer> multipliers = new ArrayList<>();
        List<Integer> shifts = new ArrayList<>();
        List<Integer> bias = new ArrayList<>();
        for (int c = 0; c < CHANNELS; c++) {
            double real = Math.scalb(0.5 + random.nextDouble() / 2, -exponent);
            QuantizedMultiplier by = QuantizedMultiplier.of(c == 3 && exponent > 0 ? 0 : real);
            multipliers.add(by.multiplier());
            shifts.add(by.shift() - (exponent > 0 ? c % 2 : 0));
            bias.add(random.nextInt(100_000) - 50_000);
            bounds.add(exponent > 0 ? 3_000_000L + random.nextInt(3_000_000) : 100_000L);
        }
        int zero = random.nextInt(256) - 128;
        int low = random.nextBoolean() ? -128 : Math.max(-128, zero);
        Requantization r = new Requantization(multipliers, shifts, 3, zero, DType.INT8, rounding);
        return new ProvenRequantize.Reference(r, bias, low, 127);
    }

    /** Around all steps, around zero and at random places. */
    private static void assertEqual(
            StepwiseRequantize rescale, ProvenRequantize.Reference reference, int c, long bound, Random random) {
        List<Long> places = new ArrayList<>(List.of(-bound, bound));
        for (long step : RequantizeSteps.of(reference, c, bound)) {
            places.addAll(List.of(step - 2, step - 1, step, step + 1));
        }
        for (int i = 0; i < 300; i++) {
            places.add(random.nextLong(2 * bound) - bound);
            places.add((long) i - 150 - reference.bias().get(c));
        }
        for (long acc : places) {
            if (Math.abs(acc) <= bound) {
                assertThat(rescale.apply(c, acc, reference.low(), 127))
                        .as("%s channel %d of %d", rescale, c, acc)
                        .isEqualTo(reference.results(c).applyAsInt(acc));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"TFLITE, 9", "TFLITE, 14", "TFLITE, 0", "TFLITE, -2", "UPWARD, 9", "UPWARD, 0", "UPWARD, -2"})
    void isTheReferenceOfDeepLayers(Rounding rounding, int exponent) {
        Random random = new Random(exponent);
        int further = 0;
        for (int i = 0; i < 40; i++) {
            List<Long> bounds = new ArrayList<>();
            ProvenRequantize.Reference reference = reference(random, rounding, exponent, bounds);
            StepwiseRequantize rescale =
                    StepwiseRequantize.of(reference, bounds).orElseThrow();
            Optional<StepwiseRequantize> scaled = rescale.scaled(8, bounds);
            further += scaled.isPresent() ? 1 : 0;
            for (int c = 0; c < CHANNELS; c++) {
                assertEqual(rescale, reference, c, bounds.get(c), random);
                if (scaled.isPresent()) {
                    assertEqual(scaled.get(), reference, c, bounds.get(c), random);
                }
            }
            assertThat(rescale.constants(0)).hasSize(rescale.commonShift().isPresent() ? 3 : 4);
        }
        assertThat(further).isPositive();
    }

    @Test
    void givesUpWhereItRoundsOtherwiseOrValuesLeave32Bits() {
        List<Long> bounds = new ArrayList<>();
        Random random = new Random(1);
        assertThat(StepwiseRequantize.of(reference(random, Rounding.TONEAREST, 9, bounds), bounds))
                .isEmpty();
        Requantization r = new Requantization(List.of(1 << 30), List.of(-9), 0, 0, DType.INT8, Rounding.TFLITE);
        ProvenRequantize.Reference large = new ProvenRequantize.Reference(r, List.of(1 << 30), -128, 127);
        assertThat(StepwiseRequantize.of(large, List.of(1L << 20))).isEmpty();
        Requantization mixed =
                new Requantization(List.of(1 << 30, 1 << 30), List.of(0, -1), 0, 0, DType.INT8, Rounding.TFLITE);
        ProvenRequantize.Reference both = new ProvenRequantize.Reference(mixed, List.of(0, 0), -128, 127);
        assertThat(StepwiseRequantize.of(both, List.of(1000L, 1000L))).isEmpty();
    }
}
