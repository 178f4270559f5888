// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileOptions;
import io.kiln.firmware.image.Measurement;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.verify.ProfileStep.ImageProfile;
import io.kiln.report.FrontReport;
import io.kiln.report.ProfileReport;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.LayerGoal;
import io.kiln.tuning.fit.FitSearch;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import io.kiln.tuning.fit.FitTable;
import io.kiln.tuning.fit.FitTable.FitCost;
import io.kiln.tuning.fit.FitTable.Layer;
import io.kiln.tuning.fit.FitTable.Option;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Measures images for different goals, and images whose layers have different ones. */
record FitRun(Log log, FitImages images, FitLimits limits) {
    /** Images of a frame whose real memory is compared with the limits before it is given up. */
    private static final int MOST_TRIALS = 4;

    /** Images of a frame that a front shows between those with one goal for all layers. */
    private static final int MOST_OF_A_FRONT = 4;

    /** What a table misses, such as alignment, may be taken as so much more than it was. */
    private static final int STEP = 16;

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
        Optional<FitImage> fastest = plans().stream().min(Comparator.comparing(FitImage::cost, byCycles()));
        if (fastest.filter(this::fits).isEmpty()) {
            Map<FitFrame, FitTable> tables = tables(true);
            tables.entrySet().stream()
                    .sorted(Comparator.comparingLong(frame -> promised(frame.getValue())))
                    .forEach(frame -> mix(frame.getKey(), frame.getValue()));
        }
        return images.all().entrySet().stream()
                .filter(image -> fits(image.getValue()))
                .min(Comparator.comparing(image -> image.getValue().cost(), byCycles()))
                .map(Map.Entry::getKey);
    }

    /** Images whose code and layers are made for speed, one of each plan; empty if one of them is too large to run. */
    private List<FitImage> plans() {
        List<FitImage> all = new ArrayList<>();
        for (Optimize plan : Optimize.values()) {
            Optional<FitImage> image = measured(new FitFrame(Optimize.SPEED, plan).uniform());
            if (image.isEmpty()) {
                return List.of();
            }
            all.add(image.get());
        }
        return all;
    }

    private static Comparator<FitCost> byCycles() {
        return Comparator.comparingLong(FitCost::cycles)
                .thenComparing(FitCost::flash)
                .thenComparing(FitCost::ram);
    }

    /** Measures images of each frame that no other of the frame seems to beat. */
    void front() {
        plans();
        tables(false).forEach((frame, table) -> {
            List<List<Integer>> front = new FitSearch(table).front();
            for (int i = 0; i < MOST_OF_A_FRONT; i++) {
                int index = (i + 1) * front.size() / (MOST_OF_A_FRONT + 1);
                if (index < front.size()) {
                    measured(frame.mixed(table.goals(front.get(index))));
                }
            }
        });
    }

    /** The names of the layers' functions, which are the same in all images: from the first that runs. */
    private Set<String> layers() {
        return Stream.concat(
                        images.all().values().stream(),
                        FitFrame.all().stream().flatMap(frame -> measured(frame.uniform()).stream()))
                .findFirst()
                .map(image -> image.operators().stream()
                        .map(ProfileReport.Operator::name)
                        .collect(Collectors.toSet()))
                .orElse(Set.of());
    }

    /** The tables of the frames of which any image runs; without goals that need too much RAM if that is asked for. */
    private Map<FitFrame, FitTable> tables(boolean mustFit) {
        Set<String> layers = layers();
        Map<FitFrame, FitTable> tables = new LinkedHashMap<>();
        for (FitFrame frame : FitFrame.all()) {
            Map<LayerGoal, FitImage> ofGoals = new EnumMap<>(LayerGoal.class);
            for (LayerGoal goal : LayerGoal.values()) {
                FitImage speed = ofGoals.get(LayerGoal.SPEED);
                if (!mustFit || speed == null || mayFit(speed)) {
                    measured(frame.all(goal, layers)).ifPresent(image -> ofGoals.put(goal, image));
                }
            }
            if (!ofGoals.isEmpty()) {
                tables.put(frame, FitFrame.table(ofGoals));
            }
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
            Optional<FitImage> image = measured(frame.mixed(table.goals(choice.get())));
            if (image.isEmpty() || fits(image.get())) {
                return;
            }
            narrow = narrower(narrow, image.get());
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

    private Optional<FitImage> measured(FitWay way) {
        boolean isNew = !images.all().containsKey(way);
        Optional<FitImage> image = images.measured(way);
        image.filter(known -> isNew)
                .map(FitImage::cost)
                .ifPresent(cost -> log.debug(String.format(
                        Locale.ROOT,
                        "%s: %,d cycles, %,d bytes of flash, %,d of RAM",
                        way.text(),
                        cost.cycles(),
                        cost.flash(),
                        cost.ram())));
        return image;
    }

    /** The first way to each cost, the fastest first. */
    List<FitWay> different() {
        Map<FitCost, FitWay> ways = new TreeMap<>(byCycles());
        images.all().forEach((way, image) -> ways.putIfAbsent(image.cost(), way));
        return List.copyOf(ways.values());
    }

    /**
     * The goals that all layers of an image have around them. Within a frame the costs of layers hardly depend on each other: measured with each goal
     * for all layers at once, they tell what a mix costs.
     *
     * @param code what everything but plan and layers is optimized for
     * @param plan what the order of operators and their rows are chosen for
     */
    record FitFrame(Optimize code, Optimize plan) {
        /** The frames, that of the usual build first. */
        static List<FitFrame> all() {
            List<FitFrame> all = new ArrayList<>();
            for (Optimize code : List.of(Optimize.SPEED, Optimize.SIZE)) {
                for (Optimize plan : Optimize.values()) {
                    all.add(new FitFrame(code, plan));
                }
            }
            return List.copyOf(all);
        }

        /** An image whose layers have the goal of the code. */
        FitWay uniform() {
            return mixed(new TreeMap<>());
        }

        /** An image whose layers all have a goal. */
        FitWay all(LayerGoal goal, Set<String> layers) {
            SortedMap<String, LayerGoal> goals = new TreeMap<>();
            layers.forEach(layer -> goals.put(layer, goal));
            return mixed(goals);
        }

        /** An image whose layers have different goals. */
        FitWay mixed(SortedMap<String, LayerGoal> goals) {
            return new FitWay(code, new GoalMix(plan, goals));
        }

        /**
         * The costs of the layers.
         *
         * @param images images with a goal for all layers, at least one
         */
        static FitTable table(Map<LayerGoal, FitImage> images) {
            FitImage first = images.values().iterator().next();
            List<Layer> layers = new ArrayList<>();
            for (ProfileReport.Operator operator : first.operators()) {
                Map<List<Object>, Option> different = new LinkedHashMap<>();
                images.forEach((goal, image) -> {
                    Option option = option(goal, operator.name(), image);
                    different.putIfAbsent(List.of(option.cycles(), option.ram(), option.parts()), option);
                });
                layers.add(new Layer(operator.name(), List.copyOf(different.values())));
            }
            FitTable alone = new FitTable(new FitCost(0, 0, 0), layers);
            FitCost all = alone.cost(Collections.nCopies(layers.size(), 0));
            FitCost whole = first.cost();
            return new FitTable(
                    new FitCost(whole.cycles() - all.cycles(), whole.flash() - all.flash(), whole.ram() - all.ram()),
                    layers);
        }

        /** What belongs to one layer alone has another name with each goal. */
        private static Option option(LayerGoal goal, String layer, FitImage image) {
            SortedMap<String, Long> parts = new TreeMap<>();
            Set<String> shared = new HashSet<>(image.kernels());
            image.parts()
                    .getOrDefault(layer, Collections.emptySortedMap())
                    .forEach((name, bytes) -> parts.put(shared.contains(name) ? name : name + " " + bytes, bytes));
            return new Option(goal, image.cycles(layer), image.needs().getOrDefault(layer, 0L), parts);
        }
    }

    /** Measures images of a build that are made in different ways. */
    interface FitImages {
        /**
         * An image's memory and cycles; one that was measured is not measured again.
         *
         * @return empty if the image is too large for every machine that could run it
         */
        Optional<FitImage> measured(FitWay way);

        /** All images that were measured, in this order; without those that are too large to run. */
        Map<FitWay, FitImage> all();
    }

    /**
     * A measured image.
     *
     * @param memory what it takes
     * @param profile what an inference costs
     * @param parts functions and tables of each operator with their bytes in flash
     * @param kernels names of those parts that several operators may share
     * @param needs bytes of the workspace that are alive while an operator runs
     */
    record FitImage(
            Measurement memory,
            ImageProfile profile,
            Map<String, SortedMap<String, Long>> parts,
            Set<String> kernels,
            Map<String, Long> needs) {
        FitImage {
            parts = Map.copyOf(parts);
            kernels = Set.copyOf(kernels);
            needs = Map.copyOf(needs);
        }

        /** The operators with what they cost, in execution order. */
        List<ProfileReport.Operator> operators() {
            return profile.operators();
        }

        /** What {@link #cost} counts as cycles. */
        String currency() {
            return profile.cycles()
                    .map(report -> report.memory() == null ? FrontReport.ZERO_WAIT_CYCLES : FrontReport.BOARD_CYCLES)
                    .orElse(FrontReport.INSTRUCTIONS);
        }

        /** Cycles or, if no timings are known of the core, instructions of an operator. */
        long cycles(String operator) {
            return operators().stream()
                    .filter(one -> one.name().equals(operator))
                    .mapToLong(FitImage::cycles)
                    .sum();
        }

        private static long cycles(ProfileReport.Operator operator) {
            if (operator.boardCycles() != null) {
                return operator.boardCycles().expected();
            }
            return operator.estimatedCycles() != null
                    ? operator.estimatedCycles().expected()
                    : operator.instructions();
        }

        FitCost cost() {
            long cycles = profile.cyclesExpected().orElse(profile.instructions());
            return new FitCost(cycles, memory.flash().total(), memory.ram().total());
        }
    }

    /**
     * How the image of a build is made.
     *
     * @param code what everything but plan and layers is optimized for: the C compiler's flags, and operators without weights
     * @param parts the goals of plan and layers
     */
    record FitWay(Optimize code, GoalMix parts) {
        /** A build for one goal. */
        static FitWay of(Optimize optimize) {
            return new FitWay(optimize, new GoalMix(optimize, new TreeMap<>()));
        }

        /** Whether all parts have the goal of the code: the build with that value of {@code kiln.optimize}. */
        boolean isUniform() {
            return parts.plan() == code && parts.layers().values().stream().allMatch(LayerGoal.of(code)::equals);
        }

        /** A build that is made this way. */
        ResolvedBuild applied(ResolvedBuild build) {
            BuildSpec spec = build.spec();
            CompileOptions options = spec.compiler().options();
            CompileOptions made = isUniform() ? options.with(code) : options.with(code, parts);
            ResolvedBuild other = build.with(spec.with(spec.compiler().with(made)), build.runsOn());
            return new ResolvedBuild(
                    other.spec(),
                    other.board(),
                    other.runsOn(),
                    other.toolchain(),
                    other.objects().map(objects -> objects.optimizing(code)));
        }

        /** One phrase for people, such as {@code speed, planned for ram, 3 layers for size}. */
        String text() {
            if (isUniform()) {
                return code.text();
            }
            String plan =
                    parts.plan() == code ? "" : ", planned for " + parts.plan().text();
            Set<LayerGoal> goals = new TreeSet<>(parts.layers().values());
            if (goals.size() == 1) {
                LayerGoal all = goals.iterator().next();
                return code.text() + plan + (all == LayerGoal.of(code) ? "" : ", layers for " + all.text());
            }
            return code.text()
                    + plan
                    + goals.stream()
                            .filter(goal -> goal != LayerGoal.of(code))
                            .map(goal -> ", "
                                    + parts.layers().values().stream()
                                            .filter(goal::equals)
                                            .count() + " of " + parts.layers().size() + " layers for " + goal.text())
                            .collect(Collectors.joining());
        }
    }
}
