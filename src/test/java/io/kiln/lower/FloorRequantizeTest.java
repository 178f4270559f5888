// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Rounding;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FloorRequantizeTest {
    private static final int BOUND = 60_000;

    @Test
    void isTheReferenceForEveryAccumulator() {
        Random random = new Random(3);
        int found = 0;
        for (int i = 0; i < 60; i++) {
            QuantizedMultiplier by = QuantizedMultiplier.of((float) Math.scalb(0.5 + random.nextDouble(), -8));
            ProvenRequantize.Reference reference = reference(by, random.nextInt(256) - 128);
            Optional<FloorRequantize> rescale = FloorRequantize.find(reference, 1, BOUND);
            if (rescale.isPresent()) {
                found++;
                assertEqualEverywhere(reference, rescale.get().channels().get(0));
            }
        }
        assertThat(found).isGreaterThan(40);
    }

    @Test
    void halvesToEvenNeedAnotherWay() {
        assertThat(FloorRequantize.find(reference(QuantizedMultiplier.of(1f / 256), 0), 1, BOUND))
                .isEmpty();
    }

    private static ProvenRequantize.Reference reference(QuantizedMultiplier by, int zeroPoint) {
        Requantization r = new Requantization(
                List.of(by.multiplier()), List.of(by.shift()), 0, zeroPoint, DType.INT8, Rounding.ONNX);
        return new ProvenRequantize.Reference(r, List.of(0), -128, 127);
    }

    private static void assertEqualEverywhere(ProvenRequantize.Reference reference, FloorRequantize.Channel channel) {
        int zeroPoint = reference.requantization().outputZeroPoint();
        for (int acc = -BOUND; acc <= BOUND; acc++) {
            long floor = ((long) acc * channel.multiplier() + channel.offset()) >> channel.shift();
            assertThat(FixedPoint.clamp(floor + zeroPoint, -128, 127))
                    .isEqualTo(reference.results(0).applyAsInt(acc));
        }
    }
}
