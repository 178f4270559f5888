// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.base.Optimize;
import io.kiln.compile.CompileOptions;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.LayerGoal;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

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
