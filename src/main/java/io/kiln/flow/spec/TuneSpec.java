// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A search for better configurations.
 *
 * @param tuner which configurations are measured, in which order
 * @param asked what becomes as small as possible; empty for what builds of the board follow, see {@link #usual}
 * @param limits when it ends
 * @param seed of random choices and of the examples that candidates compute
 * @param merge logs whose records are taken over first
 * @param pickBest whether the log keeps the best records only
 * @param propose a team's log, to which records that help are proposed; empty to keep all in the project's own
 */
public record TuneSpec(
        Kind tuner,
        Optional<Objective> asked,
        Limits limits,
        long seed,
        List<Path> merge,
        boolean pickBest,
        Optional<Path> propose) {
    /** The searches there are. */
    public enum Kind {
        /** A search of all configurations in their order. */
        GRID,
        RANDOM,
        GA,
        /** A search led by a model of the cost, gradient-boosted trees. */
        XGB
    }

    /** The usual search, with the parameters' defaults. */
    public static final TuneSpec USUAL =
            new TuneSpec(Kind.XGB, Optional.empty(), new Limits(128, 0, 120, 0), 0, List.of(), false, Optional.empty());

    public TuneSpec {
        merge = List.copyOf(merge);
    }

    /**
     * The limits of a search.
     *
     * @param trials the most configurations of a task that are measured, those of earlier searches included
     * @param earlyStopping a task ends after so many measurements without a better one; 0 for never
     * @param timeout seconds for which one image may run
     * @param budget seconds that the search may take in all; 0 for no limit
     */
    public record Limits(int trials, int earlyStopping, int timeout, int budget) {}

    /**
     * What a search minimises if nothing is said: the objective that builds follow.
     *
     * @param isTimed whether the cycles of the core can be estimated
     * @param isOnBoard whether a board measures, which counts neither instructions nor estimated cycles
     */
    public static Metric usual(Optimize optimize, boolean isTimed, boolean isOnBoard) {
        if (optimize == Optimize.SIZE) {
            return Metric.SIZE;
        }
        if (isOnBoard) {
            return Metric.TIME;
        }
        return isTimed ? Metric.CYCLES : Metric.INSTRUCTIONS;
    }

    public TuneSpec with(Objective objective) {
        return new TuneSpec(tuner, Optional.of(objective), limits, seed, merge, pickBest, propose);
    }

    /** The same search, which proposes its records to a team's log. */
    public TuneSpec proposing(Path file) {
        return new TuneSpec(tuner, asked, limits, seed, merge, pickBest, Optional.of(file));
    }

    /** What becomes as small as possible, once that was decided. */
    public Objective objective() {
        return asked.orElseThrow(() -> new IllegalStateException("the objective is not decided"));
    }

    /** Time for which one image may run. */
    public Duration timeout() {
        return Duration.ofSeconds(limits.timeout);
    }

    /** Time that the search may take; zero for no limit. */
    public Duration budget() {
        return Duration.ofSeconds(limits.budget);
    }

    /**
     * Reads the parameters.
     *
     * @param objective empty if it is not set
     * @throws KilnException with all that are wrong
     */
    public static TuneSpec of(
            String tuner, Optional<String> objective, Limits limits, long seed, List<Path> merge, boolean pickBest) {
        Problems problems = new Problems(Failure.CONFIG);
        Optional<Kind> kind = problems.read(() -> ParameterValue.of("kiln.tune.tuner", Kind.class, tuner));
        Optional<Objective> goal = objective.flatMap(text -> problems.read(() -> Objective.parse(text)));
        least(problems, "trials", limits.trials, 0);
        least(problems, "earlyStopping", limits.earlyStopping, 0);
        least(problems, "timeout", limits.timeout, 1);
        least(problems, "budget", limits.budget, 0);
        problems.throwIfAny();
        return new TuneSpec(kind.orElseThrow(), goal, limits, seed, merge, pickBest, Optional.empty());
    }

    private static void least(Problems problems, String name, int value, int least) {
        if (value < least) {
            problems.add("kiln.tune." + name + " is " + value, "", least + " or more");
        }
    }

    /**
     * The tuning records that a build follows.
     *
     * @param own log of tuning records; empty for the board's own in the project, if there is one
     * @param shared logs of packaging {@code tuning-records}, or folders of logs that will be packed into one
     * @param isForInstructions whether only records count that were searched for few instructions, among those that were searched for speed
     */
    public record RecordsSpec(
            @NoInput(because = "the log that is followed is an input itself, also where none is named")
            Optional<Path> own,

            @NoInput(
                    because =
                            "their records are an input, which is the same for a folder and for the log packed from it")
            List<Path> shared,

            boolean isForInstructions) {
        /** The usual records: the board's own in the project. */
        public static final RecordsSpec USUAL = new RecordsSpec(Optional.empty(), List.of(), false);

        public RecordsSpec {
            shared = List.copyOf(shared);
        }

        /**
         * Reads the parameters.
         *
         * @param objective value of {@code kiln.tune.objective}; empty if it is not set
         * @throws KilnException if it is not an objective
         */
        public static RecordsSpec of(Optional<Path> own, List<Path> shared, Optional<String> objective) {
            return new RecordsSpec(
                    own, shared, objective.map(Objective::parse).equals(Optional.of(Metric.INSTRUCTIONS)));
        }

        public RecordsSpec with(Path log) {
            return new RecordsSpec(Optional.of(log), shared, isForInstructions);
        }

        /** What is minimised by the records that come with Kiln. */
        public Metric speed() {
            return isForInstructions ? Metric.INSTRUCTIONS : Metric.CYCLES;
        }
    }
}
