// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class CrossedProductsTest {
    /** The sum of a channel that starts at minus all products and adds the inputs to the weights, as the assembly does. */
    private static int crossed(int[] x, int[] w) {
        int products = 0;
        for (int i = 0; i < x.length; i += 2) {
            products += x[i] * x[i + 1];
        }
        int sum = -CrossedProducts.of(w) - products;
        for (int i = 0; i < x.length; i += 2) {
            sum += (x[i + 1] + w(w, i)) * (x[i] + w(w, i + 1));
        }
        return sum;
    }

    /** A weight; 0 behind the last. */
    private static int w(int[] w, int i) {
        return i < w.length ? w[i] : 0;
    }

    @Test
    void inputsAddedToWeightsGiveTheSumOfProducts() {
        Random random = new Random(17);
        for (int i = 0; i < 2000; i++) {
            int length = 4 + random.nextInt(700);
            boolean isExtreme = i % 3 == 0;
            int[] w = random.ints(length, -128, 128)
                    .map(v -> isExtreme ? -128 : v)
                    .toArray();
            int[] x = new int[(length + 3) / 4 * 4];
            int sum = 0;
            for (int at = 0; at < length; at++) {
                x[at] = isExtreme ? -128 : random.nextInt(256) - 128;
                sum += x[at] * w[at];
            }
            assertThat(crossed(x, w)).isEqualTo(sum);
        }
    }
}
