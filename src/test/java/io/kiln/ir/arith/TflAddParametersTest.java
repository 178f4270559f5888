// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class TflAddParametersTest {
    @Test
    void sumIsWithinOneStepOfTheRealSum() {
        Random random = new Random(7);
        for (int round = 0; round < 2000; round++) {
            float lhsScale = 0.001f + random.nextFloat();
            float rhsScale = 0.001f + random.nextFloat();
            float outScale = Math.max(lhsScale, rhsScale) * (0.5f + random.nextFloat());
            TflAddParameters parameters = TflAddParameters.of(lhsScale, rhsScale, outScale);
            int lhs = random.nextInt(511) - 255;
            int rhs = random.nextInt(511) - 255;
            int sum = parameters.scaleOutput(parameters.scaleLhs(lhs) + parameters.scaleRhs(rhs));
            double real = (lhs * (double) lhsScale + rhs * (double) rhsScale) / outScale;
            assertThat(Math.abs(sum - real)).isLessThan(0.5001);
        }
    }
}
