// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DrawnCases;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OnnxBilinearTest {
    private static final int DRAWS = DrawnCases.atLeast(1_000_000);
    private static final int[] PARTS = {1, 2, 3, 4, 6, 8, 16, 1 << 24};

    private final Random random = new Random(7);

    /** The weights of one axis, which sum to 1 but for their roundings; often those of a usual scale. */
    private float[] weights() {
        int parts = PARTS[random.nextInt(PARTS.length)];
        float first = random.nextInt(parts + 1) / (float) parts;
        return new float[] {first, Math.abs(first - 1)};
    }

    private OnnxBilinear drawn() {
        float from = (float) Math.exp(8 * random.nextDouble() - 6);
        float to = random.nextBoolean() ? from : (float) (from * Math.exp(6 * random.nextDouble() - 3));
        return new OnnxBilinear(from, to, random.nextInt(256) - 128);
    }

    @Test
    void theSumOfIntegersDecidesUnlessItIsNearAHalf() {
        int doubtful = 0;
        for (int i = 0; i < DRAWS; i++) {
            OnnxBilinear bilinear = drawn();
            float[] x = weights();
            float[] y = weights();
            int[] bytes = random.ints(4, -255, 256).toArray();
            long sum = 1L << (bilinear.fractionBits() - 1);
            for (int k = 0; k < bytes.length; k++) {
                long column = OnnxBilinear.columnFactor(x[k % 2]);
                sum += ((column * bilinear.rowFactor(y[k / 2])) >> OnnxBilinear.COLUMN_BITS) * bytes[k];
            }
            long mask = (1L << bilinear.fractionBits()) - 1;
            if (((sum + bilinear.doubt()) & mask) <= 2 * bilinear.doubt()) {
                doubtful++;
                continue;
            }
            long decided = (sum >> bilinear.fractionBits()) + bilinear.zeroPoint();
            OnnxBilinear.Point at = new OnnxBilinear.Point(x[1], x[0], y[1], y[0]);
            assertThat(bilinear.interpolate(at, bytes))
                    .isEqualTo((int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, decided)));
        }
        assertThat(doubtful).isBetween(1, DRAWS / 10);
    }
}
