// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.quantize.range.Calibration.Histogram;
import io.kiln.quantize.range.Calibration.RangeMethod;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RangeMethodTest {
    /** Numbers from N(0, 1), and two far outside. */
    private static Histogram withOutliers() {
        Random random = new Random(1);
        float[] values = new float[100_000];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        values[7] = 40;
        values[9] = -30;
        Histogram histogram = new Histogram(ValueRange.of(values));
        histogram.add(values);
        return histogram;
    }

    private static ValueRange chosen(RangeMethod method) {
        return Calibration.choose(method, withOutliers());
    }

    @Test
    void extremesKeepOutliers() {
        assertThat(chosen(RangeMethod.MINMAX)).isEqualTo(new ValueRange(-30, 40));
    }

    @ParameterizedTest
    @EnumSource(names = {"PERCENTILE", "KL"})
    void otherMethodsLeaveOutliersOut(RangeMethod method) {
        ValueRange range = chosen(method);
        assertThat(range.max()).isBetween(2.5f, 12f);
        assertThat(range.min()).isBetween(-9f, -2f);
    }

    @Test
    void theMeanSquareErrorWeighsOutliersAgainstSmallerSteps() {
        ValueRange range = chosen(RangeMethod.MSE);
        assertThat(range.max()).isBetween(12f, 39f);
        assertThat(range.min()).isCloseTo(-30 * range.max() / 40, within(1e-3f));
    }

    @Test
    void aPercentileLeavesOutATenThousandthOnEitherSide() {
        ValueRange range = chosen(RangeMethod.PERCENTILE);
        // N(0, 1) exceeds 3.72 once in 10,000.
        assertThat(range.max()).isCloseTo(3.72f, within(0.25f));
        assertThat(range.min()).isCloseTo(-3.72f, within(0.25f));
    }

    @ParameterizedTest
    @EnumSource
    void valuesWithoutOutliersKeepNearlyAllOfTheirRange(RangeMethod method) {
        float[] values = new float[10_000];
        for (int i = 0; i < values.length; i++) {
            values[i] = i / 10_000f;
        }
        Histogram histogram = new Histogram(ValueRange.of(values));
        histogram.add(values);
        ValueRange range = Calibration.choose(method, histogram);
        assertThat(range.min()).isZero();
        assertThat(range.max()).isBetween(0.97f, 1f);
    }

    @ParameterizedTest
    @EnumSource
    void aConstantValueIsItsOwnRange(RangeMethod method) {
        Histogram histogram = new Histogram(new ValueRange(3, 3));
        histogram.add(new float[] {3, 3});
        assertThat(Calibration.choose(method, histogram)).isEqualTo(new ValueRange(3, 3));
    }

    @Test
    void notANumberMakesARangeInfinite() {
        assertThat(ValueRange.of(new float[] {1, Float.NaN, 2}).isFinite()).isFalse();
        assertThat(ValueRange.EMPTY.isFinite()).isFalse();
    }
}
