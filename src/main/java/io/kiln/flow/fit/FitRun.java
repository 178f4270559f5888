// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.firmware.image.Measurement;
import io.kiln.report.ProfileReport;
import io.kiln.schedule.LayerGoal;
import io.kiln.tuning.fit.FitCost;
import io.kiln.tuning.fit.FitLimits;
import io.kiln.tuning.fit.FitSearch;
import io.kiln.tuning.fit.FitTable;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Measures images for different goals, and images whose layers have different ones. */
final class FitRun {
    /** Images of a frame whose real memory is compared with the limits before it is given up. */
    private static final int MOST_TRIALS = 4;

    /** Images of a frame that a front shows between those with one goal for all layers. */
    private static final int MOST_OF_A_FRONT = 4;

    /** What a table misses, such as alignment, may be taken as so much more than it was. */
    private static final int STEP = 16;

    private final Log log;
    private final FitImages images;
    private final FitLimits limits;

    FitRun(Log log, FitImages images, FitLimits limits) {
        this.log = log;
        this.images = images;
        this.limits = limits;
    }

    /** Whether an image fits in its board and in the limits. */
    boolean fits(FitImage image) {
        return image.memory().fits() && limits.allow(image.cost());
    }

    /**
     * The fastest image that fits. With goals for all layers alike it is among those of the plans, if they fit; otherwise layers get different goals.
     *
     * @return empty if none fits
     */
    Optional<FitWay> fastest() {
        FitImage usual = measured(FitWay.of(Optimize.SPEED));
        Set<String> layers = layers(usual);
        for (Optimize plan : Optimize.values()) {
            measured(new FitFrame(Optimize.SPEED, plan).all(LayerGoal.SPEED, layers));
        }
        FitImage fastest = images.all().values().stream()
                .min(Comparator.comparingLong(image -> image.cost().cycles()))
                .orElseThrow();
        if (!fits(fastest)) {
            Map<FitFrame, FitTable> tables = tables(layers, true);
            tables.entrySet().stream()
                    .sorted(Comparator.comparingLong(frame -> promised(frame.getValue())))
                    .forEach(frame -> mix(frame.getKey(), frame.getValue()));
        }
        return images.all().entrySet().stream()
                .filter(image -> fits(image.getValue()))
                .min(Comparator.comparing(image -> image.getValue().cost(), byCycles()))
                .map(Map.Entry::getKey);
    }

    private static Comparator<FitCost> byCycles() {
        return Comparator.comparingLong(FitCost::cycles)
                .thenComparing(FitCost::flash)
                .thenComparing(FitCost::ram);
    }

    /** Measures images of each frame that no other of the frame seems to beat. */
    void front() {
        Set<String> layers = layers(measured(FitWay.of(Optimize.SPEED)));
        tables(layers, false).forEach((frame, table) -> {
            List<List<Integer>> front = new FitSearch(table).front();
            for (int i = 0; i < MOST_OF_A_FRONT; i++) {
                int index = (i + 1) * front.size() / (MOST_OF_A_FRONT + 1);
                if (index < front.size()) {
                    measured(frame.mixed(table.goals(front.get(index))));
                }
            }
        });
    }

    private static Set<String> layers(FitImage image) {
        return image.operators().stream().map(ProfileReport.Operator::name).collect(Collectors.toSet());
    }

    /** The tables of the frames; without those that need too much RAM if that is asked for. */
    private Map<FitFrame, FitTable> tables(Set<String> layers, boolean mustFit) {
        Map<FitFrame, FitTable> tables = new LinkedHashMap<>();
        for (FitFrame frame : FitFrame.all()) {
            Map<LayerGoal, FitImage> ofGoals = new EnumMap<>(LayerGoal.class);
            for (LayerGoal goal : LayerGoal.values()) {
                if (goal == LayerGoal.SPEED || !mustFit || mayFit(ofGoals.get(LayerGoal.SPEED))) {
                    ofGoals.put(goal, measured(frame.all(goal, layers)));
                }
            }
            tables.put(frame, FitFrame.table(ofGoals));
        }
        return tables;
    }

    /** Whether an image would fit in RAM if other layers needed half as much, and nothing were copied there. */
    private boolean mayFit(FitImage image) {
        Measurement.Ram ram = image.memory().ram();
        long least = ram.total() - ram.data() - ram.workspace() / 2;
        return least
                <= Math.min(limits.ram().orElse(Long.MAX_VALUE), ram.available().orElse(Long.MAX_VALUE));
    }

    private long promised(FitTable table) {
        FitSearch search = new FitSearch(table);
        return search.best(limits).map(choice -> table.cost(choice).cycles()).orElse(Long.MAX_VALUE);
    }

    /** Measures the best mix of a frame, and stricter ones as long as the image is larger than the table says. */
    private void mix(FitFrame frame, FitTable table) {
        FitLimits narrow = within();
        for (int trial = 0; trial < MOST_TRIALS; trial++) {
            Optional<List<Integer>> choice = new FitSearch(table).best(narrow);
            if (choice.isEmpty() || isSlower(table.cost(choice.get()))) {
                return;
            }
            FitImage image = measured(frame.mixed(table.goals(choice.get())));
            if (fits(image)) {
                return;
            }
            narrow = narrower(narrow, image);
        }
    }

    private boolean isSlower(FitCost promised) {
        return images.all().values().stream()
                .anyMatch(image -> fits(image) && image.cost().cycles() <= promised.cycles());
    }

    /** The limits, and the memories of the board. */
    private FitLimits within() {
        Measurement memory = images.all().values().iterator().next().memory();
        return new FitLimits(
                least(limits.flash(), memory.flash().available()),
                least(limits.ram(), memory.ram().available()));
    }

    private static OptionalLong least(OptionalLong one, OptionalLong other) {
        long least = Math.min(one.orElse(Long.MAX_VALUE), other.orElse(Long.MAX_VALUE));
        return least == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(least);
    }

    private FitLimits narrower(FitLimits narrow, FitImage image) {
        long flash = image.cost().flash() - narrow.flash().orElse(Long.MAX_VALUE);
        long ram = image.cost().ram() - narrow.ram().orElse(Long.MAX_VALUE);
        return new FitLimits(less(narrow.flash(), flash), less(narrow.ram(), ram));
    }

    private static OptionalLong less(OptionalLong limit, long excess) {
        return excess > 0 ? OptionalLong.of(limit.orElseThrow() - excess - STEP) : limit;
    }

    private FitImage measured(FitWay way) {
        boolean isNew = !images.all().containsKey(way);
        FitImage image = images.measured(way);
        if (isNew) {
            FitCost cost = image.cost();
            log.debug(String.format(
                    Locale.ROOT,
                    "%s: %,d %s, %,d bytes of flash, %,d of RAM",
                    way.text(),
                    cost.cycles(),
                    image.currency(),
                    cost.flash(),
                    cost.ram()));
        }
        return image;
    }

    /** The first way to each cost, the fastest first. */
    List<FitWay> different() {
        Map<FitCost, FitWay> ways = new TreeMap<>(byCycles());
        images.all().forEach((way, image) -> ways.putIfAbsent(image.cost(), way));
        return List.copyOf(ways.values());
    }
}
