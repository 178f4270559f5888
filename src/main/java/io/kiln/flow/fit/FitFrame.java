// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.base.Optimize;
import io.kiln.report.ProfileReport;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.LayerGoal;
import io.kiln.tuning.fit.FitCost;
import io.kiln.tuning.fit.FitTable;
import io.kiln.tuning.fit.FitTable.Layer;
import io.kiln.tuning.fit.FitTable.Option;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

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
