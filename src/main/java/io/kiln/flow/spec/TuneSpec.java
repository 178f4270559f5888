// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A search for better configurations.
 *
 * @param tuner which configurations are measured, in which order
 * @param objective what becomes as small as possible
 * @param limits when it ends
 * @param seed of random choices and of the examples that candidates compute
 * @param merge logs whose records are taken over first
 * @param pickBest whether the log keeps the best records only
 */
public record TuneSpec(Kind tuner, Objective objective, Limits limits, long seed, List<Path> merge, boolean pickBest) {
    /** The searches there are. */
    public enum Kind {
        /** All configurations in their order. */
        GRID,
        /** At random. */
        RANDOM,
        /** Genetic. */
        GA,
        /** Led by a model of the cost, gradient-boosted trees. */
        XGB
    }

    /** The parameters' defaults. */
    public static final TuneSpec USUAL =
            new TuneSpec(Kind.XGB, Metric.INSTRUCTIONS, new Limits(128, 0, 120, 0), 0, List.of(), false);

    public TuneSpec {
        merge = List.copyOf(merge);
    }

    /**
     * The limits of a search.
     *
     * @param trials the most configurations of a task that are measured, those of earlier searches included
     * @param earlyStopping a task ends after so many measurements without a better one; 0 for never
     * @param timeout seconds for which one image may run
     * @param budget seconds after which no further image of candidates is begun; 0 for no limit
     */
    public record Limits(int trials, int earlyStopping, int timeout, int budget) {}

    /** What a search minimises if nothing is said: what builds follow. */
    public static Objective usual(Optimize optimize) {
        return optimize == Optimize.SIZE ? Metric.SIZE : USUAL.objective;
    }

    /** Time for which one image may run. */
    public Duration timeout() {
        return Duration.ofSeconds(limits.timeout);
    }

    /** Time after which no more is measured; zero for no limit. */
    public Duration budget() {
        return Duration.ofSeconds(limits.budget);
    }

    /**
     * Reads the parameters.
     *
     * @throws KilnException with all that are wrong
     */
    public static TuneSpec of(
            String tuner, String objective, Limits limits, long seed, List<Path> merge, boolean pickBest) {
        Problems problems = new Problems();
        Optional<Kind> kind = read(problems, () -> ParameterValue.of("kiln.tune.tuner", Kind.class, tuner));
        Optional<Objective> goal = read(problems, () -> Objective.parse(objective));
        least(problems, "trials", limits.trials, 0);
        least(problems, "earlyStopping", limits.earlyStopping, 0);
        least(problems, "timeout", limits.timeout, 1);
        least(problems, "budget", limits.budget, 0);
        problems.throwIfAny();
        return new TuneSpec(kind.orElseThrow(), goal.orElseThrow(), limits, seed, merge, pickBest);
    }

    private static void least(Problems problems, String name, int value, int least) {
        if (value < least) {
            problems.add("kiln.tune." + name + " is " + value, "", least + " or more", "");
        }
    }

    private static <T> Optional<T> read(Problems problems, Supplier<T> value) {
        try {
            return Optional.of(value.get());
        } catch (KilnException e) {
            e.problems().forEach(problems::add);
            return Optional.empty();
        }
    }
}
