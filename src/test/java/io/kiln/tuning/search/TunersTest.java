// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.tuning.search.BoostedTuner.Annealing;
import io.kiln.tuning.search.BoostedTuner.Novelty;
import io.kiln.tuning.search.BoostedTuner.Sample;
import io.kiln.tuning.search.Tuner.GridTuner;
import io.kiln.tuning.search.Tuner.RandomTuner;
import io.kiln.tuning.search.Tuner.SearchSpace;
import io.kiln.tuning.search.Tuner.Visited;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The searches on made-up spaces with holes, whose best point is known. */
class TunersTest {
    /** Three knobs; the sum of the first two is even. */
    private static SearchSpace space(int values) {
        List<int[]> points = new ArrayList<>();
        List<double[]> features = new ArrayList<>();
        for (int a = 0; a < values; a++) {
            for (int b = 0; b < values; b++) {
                for (int c = 0; c < 4; c++) {
                    if ((a + b) % 2 == 0) {
                        points.add(new int[] {a, b, c});
                        features.add(new double[] {a, b, c});
                    }
                }
            }
        }
        return new SearchSpace(List.of(values, values, 4), points, features);
    }

    /** Smooth, with its maximum of 1 at 5, 3, 2. */
    private static double score(double[] x) {
        return 1 / (1 + 0.05 * Math.pow(x[0] - 5, 2) + 0.1 * Math.pow(x[1] - 3, 2) + 0.3 * Math.abs(x[2] - 2));
    }

    private static Map<String, LongFunction<Tuner>> tuners(SearchSpace space) {
        return Map.of(
                "grid", seed -> new GridTuner(space),
                "random", seed -> new RandomTuner(space, seed),
                "ga", seed -> new GeneticTuner(space, seed),
                "xgb", seed -> new BoostedTuner(space, seed, List.of()));
    }

    private static List<Integer> run(Tuner tuner, SearchSpace space, ToDoubleFunction<double[]> score, int most) {
        List<Integer> order = new ArrayList<>();
        while (order.size() < most) {
            List<Integer> next = tuner.next(Math.min(16, most - order.size()));
            if (next.isEmpty()) {
                break;
            }
            next.forEach(point -> tuner.update(point, score.applyAsDouble(space.features(point))));
            order.addAll(next);
        }
        return order;
    }

    @Test
    void everyTunerProposesEveryPointOnceAndRepeatsItself() {
        SearchSpace space = space(6);
        tuners(space).forEach((name, tuner) -> {
            List<Integer> order = run(tuner.apply(3), space, TunersTest::score, Integer.MAX_VALUE);
            assertThat(order).as(name).hasSize(space.size()).doesNotHaveDuplicates();
            assertThat(run(tuner.apply(3), space, TunersTest::score, Integer.MAX_VALUE))
                    .as(name)
                    .isEqualTo(order);
        });
        assertThat(run(new GridTuner(space), space, TunersTest::score, 5)).containsExactly(0, 1, 2, 3, 4);
        assertThat(run(new RandomTuner(space, 4), space, TunersTest::score, 20))
                .isNotEqualTo(run(new RandomTuner(space, 5), space, TunersTest::score, 20));
    }

    @Test
    void whatWasMeasuredBeforeIsNotProposed() {
        SearchSpace space = space(6);
        tuners(space).forEach((name, make) -> {
            Tuner tuner = make.apply(1);
            Set<Integer> known = new HashSet<>();
            for (int point = 0; point < space.size(); point += 3) {
                tuner.update(point, score(space.features(point)));
                known.add(point);
            }
            assertThat(run(tuner, space, TunersTest::score, Integer.MAX_VALUE))
                    .as(name)
                    .hasSize(space.size() - known.size())
                    .doesNotContainAnyElementsOf(known);
        });
    }

    private static int trialsToTheBest(Tuner tuner, SearchSpace space) {
        int trials = 0;
        while (true) {
            for (int point : tuner.next(16)) {
                trials++;
                double score = score(space.features(point));
                if (score > 0.98) {
                    return trials;
                }
                tuner.update(point, score);
            }
        }
    }

    private static double median(LongFunction<Tuner> tuner, SearchSpace space) {
        return LongStream.range(0, 20)
                .mapToInt(seed -> trialsToTheBest(tuner.apply(seed), space))
                .sorted()
                .skip(9)
                .limit(2)
                .average()
                .orElseThrow();
    }

    @Test
    void learningFindsTheBestSoonerThanChance() {
        SearchSpace space = space(24);
        Map<String, LongFunction<Tuner>> tuners = tuners(space);
        double random = median(tuners.get("random"), space);
        assertThat(median(tuners.get("xgb"), space)).isLessThan(random / 3);
        assertThat(median(tuners.get("ga"), space)).isLessThan(random * 0.75);
    }

    /** A pair of values that was not measured is worth a try. */
    @Test
    void aPointIsAsNewAsItsPairs() {
        SearchSpace space = space(6);
        Novelty novelty = new Novelty(space);
        assertThat(novelty.of(0)).isEqualTo(1);
        novelty.add(0);
        assertThat(novelty.of(0)).isZero();
        assertThat(space.point(0)).containsExactly(0, 0, 0);
        assertThat(novelty.of(space.find(List.of(0, 0, 3)).orElseThrow())).isEqualTo(2.0 / 3);
        assertThat(novelty.of(space.find(List.of(5, 5, 0)).orElseThrow())).isEqualTo(1);
        Novelty trial = novelty.copy();
        trial.add(1);
        assertThat(trial.of(1)).isZero();
        assertThat(novelty.of(1)).isPositive();
    }

    /** In a space too large to predict point by point. */
    @Test
    void annealingFindsWhatTheTreesExpect() {
        SearchSpace space = space(64);
        assertThat(space.size()).isGreaterThan(4096);
        List<Integer> best = new Annealing(space, new SplittableRandom(1))
                .best(point -> 10 * score(space.features(point)), 4, new Visited(space.size()));
        assertThat(best).hasSize(4);
        assertThat(space.point(best.get(0))).containsExactly(5, 3, 2);
        List<Integer> order = run(new BoostedTuner(space, 2, List.of()), space, TunersTest::score, 192);
        assertThat(order.stream()
                        .mapToDouble(point -> score(space.features(point)))
                        .max()
                        .orElseThrow())
                .isGreaterThan(0.9);
    }

    @Test
    void measurementsOfOtherShapesMakeTheFirstPlan() {
        SearchSpace space = space(24);
        List<Sample> others = new ArrayList<>();
        for (int point = 0; point < space.size(); point += 7) {
            others.add(Sample.of(space.features(point), score(space.features(point))));
        }
        List<Integer> first = new BoostedTuner(space, 1, others).next(16);
        assertThat(first.stream()
                        .mapToDouble(point -> score(space.features(point)))
                        .average()
                        .orElseThrow())
                .isGreaterThan(0.6);
    }

    @Test
    void treesPredictWhatTheyLearnt() {
        SearchSpace space = space(8);
        double[][] x = new double[space.size()][];
        double[] y = new double[space.size()];
        for (int i = 0; i < y.length; i++) {
            x[i] = space.features(i);
            y[i] = score(x[i]);
        }
        BoostedTrees trees = BoostedTrees.fit(x, y);
        double error = 0;
        for (int i = 0; i < y.length; i++) {
            error += Math.abs(trees.predict(x[i]) - y[i]) / y.length;
        }
        assertThat(error).isLessThan(0.03);
    }
}
