// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.mlperf;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/** How good answers are. */
final class Scores {
    private Scores() {}

    /**
     * The probability that a positive value is above a negative one, equal ones counted half: the area under the curve of true against false
     * positives.
     *
     * @return empty if there are only positive ones, or none
     */
    static OptionalDouble areaUnderCurve(double[] values, boolean[] isPositive) {
        int[] order = IntStream.range(0, values.length)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> values[i]))
                .mapToInt(Integer::intValue)
                .toArray();
        double ranks = 0;
        long positives = 0;
        for (int from = 0; from < order.length; ) {
            int to = from;
            while (to < order.length && values[order[to]] == values[order[from]]) {
                to++;
            }
            double rank = (from + 1 + to) / 2.0; // the mean of the ranks from + 1 to to
            for (int i = from; i < to; i++) {
                ranks += isPositive[order[i]] ? rank : 0;
                positives += isPositive[order[i]] ? 1 : 0;
            }
            from = to;
        }
        long negatives = values.length - positives;
        return positives == 0 || negatives == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of((ranks - positives * (positives + 1) / 2.0) / (positives * (double) negatives));
    }

    /** The part of answers that are the labels. */
    static double right(int[] answers, int[] labels) {
        return IntStream.range(0, labels.length)
                        .filter(i -> answers[i] == labels[i])
                        .count()
                / (double) labels.length;
    }

    /** The answer that most windows of an input give, the first of those that equally many give. */
    static int majority(List<Integer> answers) {
        int most = answers.stream().mapToInt(Integer::intValue).max().orElseThrow();
        int[] votes = new int[most + 1];
        answers.forEach(answer -> votes[answer]++);
        int largest = Arrays.stream(votes).max().orElseThrow();
        return IntStream.rangeClosed(0, most)
                .filter(answer -> votes[answer] == largest)
                .findFirst()
                .orElseThrow();
    }

    /** The median, of an even number the lower one. */
    static double median(List<Double> values) {
        return values.stream().sorted().toList().get((values.size() - 1) / 2);
    }
}
