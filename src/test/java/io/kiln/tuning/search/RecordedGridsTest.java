// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.search.Tuner.RandomTuner;
import io.kiln.tuning.search.Tuner.SearchSpace;
import io.kiln.tuning.task.TaskSpace.KnobFeatures;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Searches on layers of several cores and types whose grids were measured whole: {@code grids.log} has the cycles of each configuration, as a
 * search with {@code kiln.tune.tuner=grid} and {@code kiln.tune.objective=cycles} writes them, the rules' choice first. The searches measure in
 * rounds, as {@code kiln:tune} does, and know nothing of other layers.
 */
class RecordedGridsTest {
    private static final int SEEDS = 20;
    private static final double NEAR = 1.02;

    /** As in a round of {@code kiln:tune}. */
    private static final int AT_ONCE = 16;

    /** A layer of which everything is known. */
    private record Grid(String name, List<TuningRecord> records, SearchSpace space) {
        static Grid of(List<TuningRecord> records) {
            Map<String, Set<RecordValue>> values = new LinkedHashMap<>();
            records.forEach(record -> record.config()
                    .entities()
                    .forEach(entity -> values.computeIfAbsent(entity.name(), name -> new LinkedHashSet<>())
                            .add(entity.value())));
            Map<String, List<RecordValue>> knobs = new LinkedHashMap<>();
            values.forEach((name, all) -> knobs.put(name, List.copyOf(all)));
            KnobFeatures features = new KnobFeatures(knobs);
            SearchSpace space = new SearchSpace(
                    knobs.values().stream().map(List::size).toList(),
                    records.stream()
                            .map(record -> point(knobs, record.config()))
                            .toList(),
                    records.stream().map(record -> features.of(record.config())).toList());
            return new Grid(records.get(0).task().workload(), records, space);
        }

        private static int[] point(Map<String, List<RecordValue>> knobs, Config config) {
            return config.entities().stream()
                    .mapToInt(entity -> knobs.get(entity.name()).indexOf(entity.value()))
                    .toArray();
        }

        double cost(int point) {
            return records.get(point).result().mean();
        }

        double least() {
            return records.stream()
                    .mapToDouble(record -> record.result().mean())
                    .min()
                    .orElseThrow();
        }
    }

    private static List<Grid> grids() throws IOException {
        try (InputStream log = RecordedGridsTest.class.getResourceAsStream("/io/kiln/tuning/grids.log")) {
            Map<String, List<TuningRecord>> grids = new LinkedHashMap<>();
            RecordReader.parse(new String(log.readAllBytes(), StandardCharsets.UTF_8), "grids.log")
                    .records()
                    .forEach(record -> grids.computeIfAbsent(record.task().workload(), key -> new ArrayList<>())
                            .add(record));
            return grids.values().stream().map(Grid::of).toList();
        }
    }

    /** Number of measurements until one is near the best; the rules' choice is the first. */
    private static int trials(Tuner tuner, Grid grid) {
        double least = grid.least();
        List<Integer> round = List.of(0);
        int trials = 0;
        while (true) {
            for (int point : round) {
                trials++;
                if (grid.cost(point) <= least * NEAR) {
                    return trials;
                }
            }
            round.forEach(point -> tuner.update(point, least / grid.cost(point)));
            round = tuner.next(AT_ONCE);
        }
    }

    private static double median(LongFunction<Tuner> tuner, Grid grid) {
        return LongStream.range(0, SEEDS)
                .mapToInt(seed -> trials(tuner.apply(seed), grid))
                .sorted()
                .skip(SEEDS / 2 - 1)
                .limit(2)
                .average()
                .orElseThrow();
    }

    @Test
    void treesFindTheBestInAThirdOfRandomsTrials() throws IOException {
        List<Grid> grids = grids();
        assertThat(grids).hasSizeGreaterThanOrEqualTo(5);
        assertThat(grids.stream().map(grid -> grid.records().get(0).task().template()))
                .contains("kiln.conv2d.cortex-m3", "kiln.conv2d.cortex-m4", "kiln.conv2d.cortex-m55")
                .contains("kiln.conv2d.rv32imac");
        for (Grid grid : grids) {
            double random = median(seed -> new RandomTuner(grid.space(), seed), grid);
            double trees = median(seed -> new BoostedTuner(grid.space(), seed, List.of()), grid);
            assertThat(trees).as(grid.name()).isLessThanOrEqualTo(random / 3);
        }
    }
}
