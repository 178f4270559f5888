// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DspWeightsTest {
    private static long smlad(int x, int y) {
        return (long) (short) x * (short) y + (long) (x >> 16) * (y >> 16);
    }

    private static int sxtb16(int word) {
        return ((byte) word & 0xFFFF) | ((byte) (word >> 16) << 16);
    }

    private static int pair(int low, int high) {
        return (low & 0xFFFF) | (high << 16);
    }

    /** The two sums give both channels back, whatever the weights, even where the first leaves 32 bits. */
    @Test
    void bothChannelsComeBackFromTheTwoSums() {
        Random random = new Random(3);
        for (int i = 0; i < 2000; i++) {
            int length = 1 + random.nextInt(400);
            boolean extreme = i % 3 == 0;
            int[] a = random.ints(length, -127, 128).map(v -> extreme ? 127 : v).toArray();
            int[] b = random.ints(length, -128, 128).toArray();
            int[] x = random.ints((length + 3) / 4 * 4L, -128, 128)
                    .map(v -> extreme ? -128 : v)
                    .toArray();
            assertThat(DspWeights.fits(a, b)).isTrue();
            int both = 0;
            int second = 0;
            for (int first = 0; first < length; first += 4) {
                for (int word = 0; word < 2; word++) {
                    List<Integer> words = new ArrayList<>();
                    DspWeights.putQuad(a, b, first, word, true, words);
                    int inputs = pair(x[first + word], x[first + word + 2]);
                    both += (int) smlad(inputs, words.get(0));
                    second += (int) smlad(inputs, sxtb16(words.get(0)));
                }
            }
            assertThat(second).isEqualTo(sum(x, b));
            assertThat(both - second).isEqualTo(256 * sum(x, a));
        }
    }

    private static int sum(int[] x, int[] w) {
        int sum = 0;
        for (int i = 0; i < w.length; i++) {
            sum += x[i] * w[i];
        }
        return sum;
    }

    @Test
    void theLeastWeightAboveANegativeOneDoesNotFit() {
        assertThat(DspWeights.fits(new int[] {-128}, new int[] {-1})).isFalse();
        assertThat(DspWeights.fits(new int[] {-128}, new int[] {0})).isTrue();
        assertThat(DspWeights.fits(new int[] {127}, new int[] {127})).isTrue();
        assertThat(DspWeights.fits(new int[] {0}, new int[] {128})).isFalse();
    }
}
