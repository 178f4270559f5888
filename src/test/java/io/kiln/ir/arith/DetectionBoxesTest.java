// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** The arithmetic of detected boxes against real numbers. */
class DetectionBoxesTest {
    private static final int CASES = 20_000;

    @Test
    void exponentialsAreRightButForTheirLastBits() {
        Random random = new Random(7);
        for (int i = 0; i < CASES; i++) {
            float x = (random.nextFloat() - 0.5f) * 174;
            float expected = (float) Math.exp(x);
            assertThat(Math.abs(DetectionBoxes.exp(x) - expected))
                    .as("exp(%s)", x)
                    .isLessThanOrEqualTo(2 * Math.ulp(expected));
        }
    }

    @Test
    void exponentialsOfSpecialNumbers() {
        assertThat(DetectionBoxes.exp(0)).isEqualTo(1);
        assertThat(DetectionBoxes.exp(-0f)).isEqualTo(1);
        assertThat(DetectionBoxes.exp(89)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(DetectionBoxes.exp(Float.POSITIVE_INFINITY)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(DetectionBoxes.exp(Float.NEGATIVE_INFINITY)).isZero();
        assertThat(DetectionBoxes.exp(-200)).isZero();
        assertThat(DetectionBoxes.exp(-100)).isCloseTo((float) Math.exp(-100), Offset.offset(0x1p-148f));
        assertThat(DetectionBoxes.exp(Float.NaN)).isNaN();
    }

    @Test
    void overlapsArePartsOfWhatIsCovered() {
        float[] boxes = {0, 0, 2, 2, 1, 1, 3, 3, 5, 5, 6, 6, 1, 1, 1, 4, 2, 2, 0, 0};
        assertThat(DetectionBoxes.intersectionOverUnion(boxes, 0, 0)).isEqualTo(1);
        assertThat(DetectionBoxes.intersectionOverUnion(boxes, 0, 1)).isEqualTo(1f / 7);
        assertThat(DetectionBoxes.intersectionOverUnion(boxes, 0, 2))
                .as("apart")
                .isZero();
        assertThat(DetectionBoxes.intersectionOverUnion(boxes, 0, 3))
                .as("no area")
                .isZero();
        assertThat(DetectionBoxes.intersectionOverUnion(boxes, 0, 4))
                .as("inside out")
                .isZero();
    }
}
