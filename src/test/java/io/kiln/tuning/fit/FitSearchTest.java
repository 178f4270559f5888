// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.schedule.LayerGoal;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import io.kiln.tuning.fit.FitTable.FitCost;
import io.kiln.tuning.fit.FitTable.Layer;
import io.kiln.tuning.fit.FitTable.Option;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The search against all choices of small programs. */
class FitSearchTest {
    private static final int PROGRAMS = 40;
    private static final int LIMITS = 8;

    /** A program as networks are: fast options have kernels of their own, small ones share one, and scratch differs. */
    private static FitTable program(SplittableRandom random) {
        int kinds = random.nextInt(1, 4);
        List<Layer> layers = new ArrayList<>();
        int count = random.nextInt(2, 8);
        for (int i = 0; i < count; i++) {
            long work = 1000L << random.nextInt(10);
            int kind = random.nextInt(kinds);
            String own = "layer" + i;
            List<Option> options = new ArrayList<>();
            options.add(option(LayerGoal.SPEED, work, random, own + " fast", "kernel" + random.nextInt(2 * kinds)));
            if (random.nextBoolean()) {
                options.add(option(
                        LayerGoal.SHORT,
                        work + work * random.nextInt(1, 20) / 100,
                        random,
                        own + " short",
                        "short" + kind));
            }
            options.add(option(
                    LayerGoal.SIZE, work + work * random.nextInt(20, 200) / 100, random, own + " small", "all" + kind));
            layers.add(new Layer(own, options));
        }
        return new FitTable(new FitCost(random.nextInt(5000), random.nextInt(20000), 4000), layers);
    }

    private static Option option(LayerGoal goal, long cycles, SplittableRandom random, String own, String kernel) {
        SortedMap<String, Long> parts = new TreeMap<>();
        parts.put(own, (long) random.nextInt(40, 400));
        // A shared part has the same size in every option, whoever draws it.
        parts.put(kernel, 300L + Math.floorMod(kernel.hashCode() * 2654435761L, 3000L));
        return new Option(goal, cycles, random.nextInt(1, 9) * 512L, parts);
    }

    private static FitLimits limits(List<FitCost> costs, SplittableRandom random) {
        long leastFlash = costs.stream().mapToLong(FitCost::flash).min().orElseThrow();
        long mostFlash = costs.stream().mapToLong(FitCost::flash).max().orElseThrow();
        long leastRam = costs.stream().mapToLong(FitCost::ram).min().orElseThrow();
        long mostRam = costs.stream().mapToLong(FitCost::ram).max().orElseThrow();
        return new FitLimits(
                random.nextInt(5) == 0
                        ? OptionalLong.empty()
                        : OptionalLong.of(random.nextLong(leastFlash, mostFlash + 1)),
                random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(random.nextLong(leastRam, mostRam + 1)));
    }

    /** Of the front, no two beat each other, and each is what a search finds within its memory. */
    @Test
    void aFrontHasTheBestOfItsOwnMemory() {
        SplittableRandom random = new SplittableRandom(4);
        for (int i = 0; i < PROGRAMS / 4; i++) {
            FitTable table = program(random);
            FitSearch search = new FitSearch(table);
            List<FitCost> front = search.front().stream().map(table::cost).toList();
            assertThat(front).isNotEmpty().allMatch(one -> front.stream().noneMatch(other -> other.beats(one)));
            for (FitCost cost : front) {
                FitLimits limits = new FitLimits(OptionalLong.of(cost.flash()), OptionalLong.of(cost.ram()));
                assertThat(search.best(limits).map(table::cost))
                        .hasValueSatisfying(best -> assertThat(best.cycles()).isLessThanOrEqualTo(cost.cycles()));
            }
        }
    }

    @Test
    void itFindsTheBestOfAllChoicesOrNearlySo() {
        SplittableRandom random = new SplittableRandom(33);
        int searched = 0;
        int exact = 0;
        double worst = 1;
        for (int i = 0; i < PROGRAMS; i++) {
            FitTable table = program(random);
            List<FitCost> costs =
                    EveryChoice.of(table).stream().map(table::cost).toList();
            for (int j = 0; j < LIMITS; j++) {
                FitLimits limits = limits(costs, random);
                OptionalLong best = costs.stream()
                        .filter(limits::allow)
                        .mapToLong(FitCost::cycles)
                        .min();
                Optional<FitCost> found = new FitSearch(table).best(limits).map(table::cost);
                assertThat(found).as("program %d, %s", i, limits).matches(cost -> cost.isPresent() == best.isPresent());
                if (found.isPresent()) {
                    assertThat(limits.allow(found.get())).isTrue();
                    double ratio = (double) found.get().cycles() / best.orElseThrow();
                    searched++;
                    exact += ratio == 1 ? 1 : 0;
                    worst = Math.max(worst, ratio);
                }
            }
        }
        assertThat(searched).isGreaterThan(PROGRAMS * LIMITS / 2);
        assertThat((double) exact / searched).isGreaterThan(0.99);
        assertThat(worst).isLessThan(1.2);
    }
}
