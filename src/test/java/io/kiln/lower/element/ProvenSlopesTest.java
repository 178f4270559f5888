// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.element.TflLeakyRelu;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ProvenSlopesTest {
    private static Optional<ProvenSlopes> of(double positive, double negative) {
        return ProvenSlopes.of(
                new TflLeakyRelu(0, 0, QuantizedMultiplier.of(positive), QuantizedMultiplier.of(negative)));
    }

    private static int differences(ProvenSlopes found, double positive, double negative) {
        int different = 0;
        for (int x = Short.MIN_VALUE; x <= Short.MAX_VALUE; x++) {
            QuantizedMultiplier by = QuantizedMultiplier.of(x >= 0 ? positive : negative);
            int expected = FixedPoint.multiplyByQuantizedMultiplier(x, by.multiplier(), by.shift());
            int actual = found.apply(x);
            boolean isEqual = FixedPoint.clamp(expected, Short.MIN_VALUE, Short.MAX_VALUE)
                    == FixedPoint.clamp(actual, Short.MIN_VALUE, Short.MAX_VALUE);
            different += isEqual ? 0 : 1;
        }
        return different;
    }

    @Test
    void usual_slopes_are_found_and_need_no_saturation() {
        ProvenSlopes found = of(1, 0.3f).orElseThrow();
        assertThat(differences(found, 1, 0.3f)).isZero();
        assertThat(found.fits()).isTrue();
    }

    @Test
    void what_is_found_is_the_reference_for_every_value() {
        Random random = new Random(17);
        int found = 0;
        for (int i = 0; i < 40; i++) {
            double positive = (float) Math.exp(random.nextGaussian());
            double negative = (float) (positive * random.nextDouble(-1, 1));
            Optional<ProvenSlopes> slopes = of(positive, negative);
            found += slopes.isPresent() ? 1 : 0;
            slopes.ifPresent(s ->
                    assertThat(differences(s, positive, negative)).as("%s", s).isZero());
        }
        assertThat(found).isGreaterThan(20);
    }

    @Test
    void results_beyond_int16_need_saturation() {
        ProvenSlopes found = of(1.7f, -1.7f).orElseThrow();
        assertThat(differences(found, 1.7f, -1.7f)).isZero();
        assertThat(found.fits()).isFalse();
    }

    @Test
    void values_with_zero_points_are_left_to_the_general_function() {
        QuantizedMultiplier one = QuantizedMultiplier.of(1);
        assertThat(ProvenSlopes.of(new TflLeakyRelu(3, 0, one, one))).isEmpty();
    }
}
