// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Rounding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProvenRequantizeTest {
    private record Case(ProvenRequantize.Reference reference, List<Long> bounds) {
        /** Channels as convolutions have them: real scales of 2^-12 to 2^-5, biases within the accumulator's range. */
        static Case of(Random random, boolean relu, Rounding rounding) {
            int channels = 1 + random.nextInt(6);
            List<Integer> multipliers = new ArrayList<>();
            List<Integer> shifts = new ArrayList<>();
            List<Integer> bias = new ArrayList<>();
            List<Long> bounds = new ArrayList<>();
            double layer = Math.scalb(0.5 + random.nextDouble() / 2, -random.nextInt(6) - 5);
            for (int c = 0; c < channels; c++) {
                QuantizedMultiplier by = QuantizedMultiplier.of(layer * (0.1 + random.nextDouble()));
                multipliers.add(by.multiplier());
                shifts.add(by.shift());
                bias.add(random.nextInt(20000) - 10000);
                bounds.add(1000L + random.nextInt(200_000));
            }
            int zero = relu ? -128 : random.nextInt(256) - 128;
            Requantization r = new Requantization(multipliers, shifts, 0, zero, DType.INT8, rounding);
            return new Case(new ProvenRequantize.Reference(r, bias, -128, 127), bounds);
        }
    }

    private static int countEqual(boolean relu, Rounding rounding) {
        Random random = new Random(11);
        int found = 0;
        for (int i = 0; i < (rounding == Rounding.TFLITE ? 60 : 30); i++) {
            Case c = Case.of(random, relu, rounding);
            Optional<ProvenRequantize> rescale = ProvenRequantize.find(c.reference(), c.bounds());
            if (rescale.isPresent()) {
                found++;
                assertEqualEverywhere(c, rescale.get());
            }
        }
        return found;
    }

    private static void assertEqualEverywhere(Case c, ProvenRequantize rescale) {
        for (int channel = 0; channel < c.bounds().size(); channel++) {
            for (long acc = -c.bounds().get(channel); acc <= c.bounds().get(channel); acc++) {
                if (rescale.apply(channel, acc, -128, 127)
                        != c.reference().results(channel).applyAsInt(acc)) {
                    assertThat(acc).as("%s channel %d", rescale, channel).isNull();
                }
            }
        }
    }

    @Test
    void isTheReferenceForEveryAccumulatorBehindARelu() {
        assertThat(countEqual(true, Rounding.TFLITE)).isEqualTo(60);
    }

    @Test
    void isTheReferenceForEveryAccumulatorOfBothSigns() {
        assertThat(countEqual(false, Rounding.TFLITE)).isGreaterThan(50);
    }

    @ParameterizedTest
    @EnumSource(
            value = Rounding.class,
            names = {"UPWARD", "TONEAREST"})
    void isTheReferenceWhereThatRoundsOnce(Rounding rounding) {
        assertThat(countEqual(true, rounding)).isGreaterThan(5);
        assertThat(countEqual(false, rounding)).isGreaterThan(5);
    }

    /** Single precision takes more for halves than there are; the values are listed where no constants alone do it. */
    @Test
    void isTheReferenceThatRoundsInSinglePrecision() {
        assertThat(countEqual(true, Rounding.ONNX)).isEqualTo(30);
        assertThat(countEqual(false, Rounding.ONNX)).isEqualTo(30);
    }

    /** Every other result lies halfway. */
    @Test
    void isTheReferenceForPowersOfTwoThatRoundHalvesToEven() {
        for (int zero : List.of(-128, -3, 0, 10)) {
            Requantization r = new Requantization(List.of(1 << 30), List.of(-8), 0, zero, DType.INT8, Rounding.ONNX);
            ProvenRequantize.Reference reference = new ProvenRequantize.Reference(r, List.of(77), -128, 127);
            ProvenRequantize rescale =
                    ProvenRequantize.find(reference, List.of(90_000L)).orElseThrow();
            assertThat(rescale.corrected())
                    .isEqualTo(zero == -3 ? ProvenRequantize.Corrected.EVEN : ProvenRequantize.Corrected.ODD);
            assertEqualEverywhere(new Case(reference, List.of(90_000L)), rescale);
        }
    }

    /** Behind a ReLU inputs have one sign; weights of the other one make sums that never reach the results above the zero point. */
    @Test
    void isTheReferenceWhereSumsNeverLeaveOneSideOfZero() {
        for (int sign : List.of(-1, 1)) {
            int bound = 33_024;
            Requantization r =
                    new Requantization(List.of(1_998_932_673), List.of(-9), 0, -3, DType.INT8, Rounding.TFLITE);
            ProvenRequantize.Reference reference = new ProvenRequantize.Reference(r, List.of(sign * bound), -128, 127);
            ProvenRequantize rescale =
                    ProvenRequantize.find(reference, List.of((long) bound)).orElseThrow();
            for (long acc = -bound; acc <= bound; acc++) {
                assertThat(rescale.apply(0, acc, -128, 127))
                        .isEqualTo(reference.results(0).applyAsInt(acc));
            }
        }
    }

    /** Channels without weights, and limits that lie below the zero point. */
    @Test
    void isTheReferenceWhereAMultiplierIsZeroOrAllResultsAreNegative() {
        Requantization r =
                new Requantization(List.of(0, 1_500_000_000), List.of(0, -9), 0, 82, DType.INT8, Rounding.TFLITE);
        for (int high : List.of(2, 82, 127)) {
            ProvenRequantize.Reference reference = new ProvenRequantize.Reference(r, List.of(1 << 29, -700), -48, high);
            List<Long> bounds = List.of(0L, 90_000L);
            ProvenRequantize rescale = ProvenRequantize.find(reference, bounds).orElseThrow();
            for (int channel = 0; channel < 2; channel++) {
                for (long acc = -bounds.get(channel); acc <= bounds.get(channel); acc++) {
                    assertThat(rescale.apply(channel, acc, -48, high))
                            .isEqualTo(reference.results(channel).applyAsInt(acc));
                }
            }
            assertThat(rescale.hasCorrections() || rescale.lateOffset() == 0).isTrue();
        }
    }

    /** Kernels have them as immediates: layers that agree in them share their code. */
    @Test
    void mostLayersAgreeInScaleAndShift() {
        Random random = new Random(5);
        Map<List<Integer>, Integer> layers = new HashMap<>();
        for (int i = 0; i < 40; i++) {
            Case c = Case.of(random, true, Rounding.TFLITE);
            ProvenRequantize rescale =
                    ProvenRequantize.find(c.reference(), c.bounds()).orElseThrow();
            layers.merge(List.of(rescale.scaleBits(), rescale.shift()), 1, Integer::sum);
        }
        assertThat(layers.values().stream().mapToInt(Integer::intValue).max().orElse(0))
                .as("%s", layers)
                .isGreaterThan(20);
    }

    @Test
    void givesUpWhereRangesDoNotAllowIt() {
        Requantization r = new Requantization(List.of(1 << 30), List.of(0), 0, 0, DType.INT8, Rounding.TFLITE);
        ProvenRequantize.Reference reference = new ProvenRequantize.Reference(r, List.of(1 << 30), -128, 127);
        assertThat(ProvenRequantize.find(reference, List.of(1L << 30))).isEmpty();
    }
}
