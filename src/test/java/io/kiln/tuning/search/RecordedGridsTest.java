// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.search.BoostedTuner.Sample;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Searches on five convolutions whose grids were counted whole: {@code grids.log} was made by {@code kiln:tune} with {@code
 * kiln.tune.tuner=grid} for Cortex-M4, from the keyword and image models of MLPerf Tiny.
 */
class RecordedGridsTest {
    private static final int SEEDS = 20;
    private static final double NEAR = 1.02;

    private static List<List<TuningRecord>> grids() throws IOException {
        try (InputStream log = RecordedGridsTest.class.getResourceAsStream("/io/kiln/tuning/grids.log")) {
            Map<String, List<TuningRecord>> grids = new LinkedHashMap<>();
            RecordReader.parse(new String(log.readAllBytes(), StandardCharsets.UTF_8), "grids.log")
                    .records()
                    .forEach(record -> grids.computeIfAbsent(record.task().workload(), key -> new ArrayList<>())
                            .add(record));
            return List.copyOf(grids.values());
        }
    }

    private static double[] features(List<List<TuningRecord>> all, TuningRecord record) {
        LinkedHashSet<RecordValue> schedules = new LinkedHashSet<>();
        all.forEach(grid ->
                grid.forEach(r -> schedules.add(r.config().entities().get(0).value())));
        LinkedHashSet<String> knobs = new LinkedHashSet<>();
        all.forEach(grid -> grid.forEach(r -> r.config().entities().forEach(e -> knobs.add(e.name()))));
        List<Double> features = new ArrayList<>();
        schedules.forEach(
                s -> features.add(s.equals(record.config().entities().get(0).value()) ? 1.0 : 0.0));
        for (String knob : knobs) {
            features.add(record.config().entities().stream()
                    .filter(e -> e.name().equals(knob) && e.value() instanceof Numeric)
                    .mapToDouble(e -> ((Numeric) e.value()).real())
                    .findFirst()
                    .orElse(-1));
        }
        return features.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static double least(List<TuningRecord> grid) {
        return grid.stream().mapToDouble(r -> r.result().mean()).min().orElseThrow();
    }

    private static int trials(Tuner tuner, List<TuningRecord> grid) {
        double least = least(grid);
        int trials = 0;
        while (true) {
            for (int point : tuner.next(1)) {
                trials++;
                double cost = grid.get(point).result().mean();
                if (cost <= least * NEAR) {
                    return trials;
                }
                tuner.update(point, least / cost);
            }
        }
    }

    private static double median(LongFunction<Tuner> tuner, List<TuningRecord> grid) {
        return LongStream.range(0, SEEDS)
                .mapToInt(seed -> trials(tuner.apply(seed), grid))
                .sorted()
                .skip(SEEDS / 2 - 1)
                .limit(2)
                .average()
                .orElseThrow();
    }

    /** The trees know the grids of the other four. */
    @Test
    void treesFindTheBestInAThirdOfRandomsTrials() throws IOException {
        List<List<TuningRecord>> grids = grids();
        assertThat(grids).hasSize(5);
        for (List<TuningRecord> grid : grids) {
            List<double[]> features =
                    grid.stream().map(record -> features(grids, record)).toList();
            List<int[]> points = new ArrayList<>();
            for (int i = 0; i < grid.size(); i++) {
                points.add(new int[] {i});
            }
            SearchSpace space = new SearchSpace(List.of(grid.size()), points, features);
            List<Sample> others = new ArrayList<>();
            grids.stream()
                    .filter(other -> other != grid)
                    .forEach(other -> other.forEach(record -> others.add(Sample.of(
                            features(grids, record),
                            least(other) / record.result().mean()))));
            double random = median(seed -> new RandomTuner(space, seed), grid);
            double trees = median(seed -> new BoostedTuner(space, seed, others), grid);
            assertThat(trees).isLessThanOrEqualTo(random / 3);
        }
    }
}
