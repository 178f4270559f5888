// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * Whose turn it is at each worker. The engine offers every worker one job after another, in the order of its queue, and goes on from where it
 * was. So that no worker has to look at most of the queue for each job, a worker stays with a project until that one is ahead of another by
 * about a second of the whole farm's time.
 *
 * <p>A verdict costs a look at the kinds of waiting jobs once after each change, and a look at a table otherwise: the engine asks for each job and each
 * free worker.
 */
final class Turns {
    /** What a worker is told of a job. */
    enum Verdict {
        /** It may have it. */
        NOW,
        /** Not it. */
        NEVER,
        /** It is another project's turn; that may change without any news of the worker. */
        LATER
    }

    private final FairShares shares;
    private final Map<Wait, Integer> waiting = new HashMap<>();
    private final Map<Wait, Wait> kinds = new HashMap<>();
    private final Map<Taker, Turn> turns = new HashMap<>();
    private final Set<Wait> absent = new HashSet<>();
    private long changes;

    private static final class Turn {
        private long seen = -1;
        private Instant hungry = Instant.MAX;
        private Instant idle = Instant.MAX;
        private boolean hasPassed;
        private final Map<Integer, String> projects = new HashMap<>();
        private final Map<Integer, Double> least = new HashMap<>();
        private final IdentityHashMap<Wait, Verdict> verdicts = new IdentityHashMap<>();
    }

    Turns(FairShares shares) {
        this.shares = shares;
    }

    /** Verdicts are out of date. */
    void change() {
        changes++;
    }

    /** The one of equal kinds by which verdicts are found at once. */
    Wait kind(Wait wait) {
        return kinds.computeIfAbsent(wait, kind -> kind);
    }

    void waits(Wait wait) {
        if (waiting.merge(wait, 1, Integer::sum) == 1) {
            change();
        }
    }

    void leaves(Wait wait) {
        if (waiting.computeIfPresent(wait, (kind, count) -> count > 1 ? count - 1 : null) == null) {
            absent.remove(wait);
            kinds.remove(wait);
            change();
        }
    }

    /** A worker has a job of a kind. */
    void takes(Taker taker, Wait wait) {
        leaves(wait);
        Turn turn = turns.computeIfAbsent(taker, each -> new Turn());
        turn.hungry = Instant.MAX;
        turn.idle = Instant.MAX;
        // Only its own next choice depends on the clocks of now.
        turn.seen = -1;
    }

    /** A worker has done its job. */
    void rests(Taker taker, Instant now) {
        Optional.ofNullable(turns.get(taker)).ifPresent(turn -> turn.idle = now);
    }

    /**
     * Whether a worker has been without a job for some time, and the engine has passed over jobs for it. Then they have to be offered once more, from
     * the first one on.
     */
    boolean hasToOffer(Duration idle, Instant now) {
        boolean has = turns.values().stream()
                .anyMatch(turn -> turn.hasPassed
                        && !turn.idle.equals(Instant.MAX)
                        && !turn.idle.plus(idle).isAfter(now));
        if (has) {
            turns.values().forEach(turn -> turn.hasPassed = false);
        }
        return has;
    }

    /** A worker is gone. */
    void ends(Taker taker) {
        turns.remove(taker);
    }

    /**
     * Whether a worker may have a job now.
     *
     * @param isOpen whether a worker is one for a kind of jobs, whoever's turn it is
     */
    Verdict ask(Taker taker, Wait wait, BiPredicate<Taker, Wait> isOpen, Instant now) {
        if (absent.remove(wait)) {
            change();
        }
        Turn turn = turns.computeIfAbsent(taker, each -> new Turn());
        if (turn.seen != changes) {
            turn.seen = changes;
            turn.verdicts.clear();
            choose(taker, turn, isOpen);
        }
        Verdict verdict = turn.verdicts.computeIfAbsent(wait, kind -> verdict(taker, turn, kind, isOpen));
        if (verdict != Verdict.LATER) {
            return verdict;
        }
        turn.hasPassed = true;
        if (turn.idle.equals(Instant.MAX)) {
            turn.idle = now;
        }
        if (turn.hungry.equals(Instant.MAX)) {
            turn.hungry = now;
        } else if (turn.hungry.plus(FarmDesk.MOST_PASSING).isBefore(now)) {
            // Jobs that are believed to wait would have come by now. They are believed again when one of them comes.
            String project = turn.projects.get(wait.priority());
            waiting.keySet().stream()
                    .filter(other -> other.priority() == wait.priority()
                            && other.project().equals(project)
                            && isOpen.test(taker, other))
                    .forEach(absent::add);
            change();
            turn.hungry = Instant.MAX;
            return Verdict.NOW;
        }
        return verdict;
    }

    private Verdict verdict(Taker taker, Turn turn, Wait wait, BiPredicate<Taker, Wait> isOpen) {
        if (!isOpen.test(taker, wait)) {
            return Verdict.NEVER;
        }
        String project = turn.projects.getOrDefault(wait.priority(), wait.project());
        boolean isBehind = shares.clock(wait.project()) <= turn.least.getOrDefault(wait.priority(), Double.MAX_VALUE);
        return isBehind || project.equals(wait.project()) ? Verdict.NOW : Verdict.LATER;
    }

    /** Chooses the project of a worker for each priority: the one that it has had, unless that is too far ahead. */
    private void choose(Taker taker, Turn turn, BiPredicate<Taker, Wait> isOpen) {
        Map<Integer, String> behind = new HashMap<>();
        Set<String> open = new HashSet<>();
        for (Wait wait : waiting.keySet()) {
            if (!absent.contains(wait) && isOpen.test(taker, wait)) {
                open.add(wait.priority() + wait.project());
                behind.merge(
                        wait.priority(),
                        wait.project(),
                        (one, other) -> shares.clock(other) < shares.clock(one) ? other : one);
            }
        }
        double most = (turns.size() - 1) * FairShares.FIRST_GUESS;
        behind.forEach((priority, least) -> {
            String own = turn.projects.getOrDefault(priority, least);
            boolean isStill = open.contains(priority + own) && shares.clock(own) - shares.clock(least) <= most;
            turn.projects.put(priority, isStill ? own : least);
        });
        turn.projects.keySet().retainAll(behind.keySet());
        turn.least.clear();
        behind.forEach((priority, project) -> turn.least.put(priority, shares.clock(project)));
    }

    /**
     * Shares workers' time between projects: each has a clock of the seconds that workers spent on it, and the one that is behind comes first. A project
     * that has had no jobs for a while cannot save up time.
     */
    static final class FairShares {
        /** Seconds for which a job counts until it is done. */
        static final double FIRST_GUESS = 1;

        private static final int MOST = 1000;

        private final Map<String, Double> clocks = new HashMap<>();
        private final Map<String, Integer> jobs = new HashMap<>();

        /** A project has another job. */
        void join(String project) {
            if (jobs.merge(project, 1, Integer::sum) > 1) {
                return;
            }
            double least = jobs.keySet().stream()
                    .filter(other -> !other.equals(project))
                    .mapToDouble(this::clock)
                    .min()
                    .orElse(0);
            if (clocks.size() > MOST) {
                clocks.keySet().retainAll(jobs.keySet());
            }
            clocks.merge(project, least, Math::max);
        }

        /** A project has a job less. */
        void leave(String project) {
            jobs.computeIfPresent(project, (name, count) -> count > 1 ? count - 1 : null);
        }

        double clock(String project) {
            return clocks.getOrDefault(project, 0.0);
        }

        void taken(String project) {
            clocks.merge(project, FIRST_GUESS, Double::sum);
        }

        void done(String project, double seconds) {
            clocks.merge(project, Math.max(0, seconds - FIRST_GUESS), Double::sum);
        }
    }
}
