// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.schedule.depthwise.DspLineKernel.Layout;
import io.kiln.schedule.depthwise.DspLineKernel.Line;
import io.kiln.schedule.depthwise.DspLineKernel.Line.Product;
import io.kiln.schedule.depthwise.DspLineKernel.Span;
import io.kiln.schedule.depthwise.DspLineKernel.Steps;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How the taps of neighbouring windows become multiplications of pairs. */
final class DspLineKernelTest {
    private static final int CASES = 500;

    @Test
    void fiveOutputsOfThreeTapsBetweenPaddingAreNineMultiplications() {
        Line line = line(new Steps(3, 3, 1), new Span(5, 1, 5));

        assertThat(products(line)).hasSize(9);
        assertThat(line.words()).containsExactly(0, 1);
        assertThat(line.padded()).containsExactly(0, 4);
        assertThat(line.paddedShare(0, new int[] {7, 20, 300})).isEqualTo(7);
        assertThat(line.paddedShare(4, new int[] {7, 20, 300})).isEqualTo(300);
    }

    @Test
    void sixOutputsOfFiveTapsAreEighteenMultiplications() {
        Line line = line(new Steps(5, 5, 1), new Span(6, 0, 10));

        assertThat(products(line)).hasSize(18);
        assertThat(line.words()).containsExactly(0, 1, 2, 3);
        assertThat(line.padded()).isEmpty();
        assertThat(line.fitsRegisters()).isTrue();
        assertThat(line(new Steps(5, 5, 1), new Span(7, 0, 11)).fitsRegisters()).isFalse();
    }

    /** Multiplies by way of the words, and compares with the sums of a plain convolution. */
    @Test
    void everyTapInsideCountsOnce() {
        Random random = new Random(5);
        for (int i = 0; i < CASES; i++) {
            int taps = 2 + random.nextInt(7);
            int stride = 1 + random.nextInt(3);
            int outputs = 1 + random.nextInt(8);
            int lead = random.nextInt(taps);
            int columns = (outputs - 1) * stride + taps;
            int inputs = Math.max(1, columns - lead - random.nextInt(taps));
            Line line = line(new Steps(1, taps, stride), new Span(outputs, lead, inputs));
            int[] weights = random.ints(taps, -128, 128).toArray();
            int[] values = random.ints(inputs, -128, 128).toArray();

            assertThat(byPairs(line, weights, values)).as("%s", line).isEqualTo(plain(line, weights, values));
        }
    }

    private static Line line(Steps steps, Span span) {
        return new Line(steps, span, Layout.of(24, steps.rows() > DspLineKernel.MOST_ROWS_APART ? 364 : 0, false));
    }

    private static List<Long> plain(Line line, int[] weights, int[] values) {
        List<Long> sums = new ArrayList<>();
        for (int output = 0; output < line.outputs(); output++) {
            long sum = 0;
            for (int tap = 0; tap < line.taps(); tap++) {
                int column = line.column(output, tap);
                sum += column >= 0 && column < line.inputs() ? (long) values[column] * weights[tap] : 0;
            }
            sums.add(sum);
        }
        return sums;
    }

    private static List<Long> byPairs(Line line, int[] weights, int[] values) {
        long[] sums = new long[line.outputs()];
        for (int first = 0; first < line.inputs(); first += 2) {
            int[] pair = {values[first], first + 1 < line.inputs() ? values[first + 1] : 0};
            for (Product product : line.products(first)) {
                int tap = line.words().get(product.word());
                int[] word = {weights[tap], tap + 1 < line.taps() ? weights[tap + 1] : 0};
                sums[product.output()] += product.halves().isEmpty()
                        ? (long) pair[0] * word[0] + (long) pair[1] * word[1]
                        : (long) half(pair, product.halves().charAt(0))
                                * half(word, product.halves().charAt(1));
            }
        }
        List<Long> all = new ArrayList<>();
        for (long sum : sums) {
            all.add(sum);
        }
        return all;
    }

    private static int half(int[] word, char name) {
        return word[name == 't' ? 1 : 0];
    }

    private static List<Product> products(Line line) {
        List<Product> all = new ArrayList<>();
        for (int first = 0; first < line.inputs(); first += 2) {
            all.addAll(line.products(first));
        }
        return all;
    }
}
