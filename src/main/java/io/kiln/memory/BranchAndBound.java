// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Exact search for small problems, with a limit on nodes.
 *
 * <p>Some optimal plan arises by placing buffers in the order of their offsets, each directly on the highest
 * conflicting one below it (push every buffer of an optimal plan down until it rests on another). So the search covers
 * such orders only, and prunes a branch when the unplaced rest of a clique cannot end below the best known plan.
 */
final class BranchAndBound {
    private static final int MOST_BUFFERS = 96;
    private static final int MOST_NODES = 50_000;

    private final MemoryProblem problem;
    private final int n;
    private final long lowerBound;
    private final int[][] cliquesOf;
    private final long[] offsets;
    private final boolean[] placed;
    private final long[] cliqueRest;
    private final long[] cliqueTop;
    private long best;
    private long[] bestOffsets = {};
    private int nodes;

    private BranchAndBound(MemoryProblem problem, long known) {
        this.problem = problem;
        n = problem.size();
        lowerBound = problem.alignedLowerBound();
        best = known;
        offsets = new long[n];
        placed = new boolean[n];
        cliqueRest = new long[problem.cliques().length];
        cliqueTop = new long[problem.cliques().length];
        cliquesOf = IntStream.range(0, n)
                .mapToObj(i -> IntStream.range(0, cliqueRest.length)
                        .filter(c -> Arrays.stream(problem.cliques()[c]).anyMatch(k -> k == i))
                        .toArray())
                .toArray(int[][]::new);
    }

    /**
     * Offsets of a plan that needs fewer bytes than the known one.
     *
     * @return empty if there is none, the problem is too large, or the search reached its limit before finding one
     */
    static Optional<long[]> improve(MemoryProblem problem, long known) {
        if (!problem.isPlain() || problem.size() > MOST_BUFFERS) {
            return Optional.empty();
        }
        BranchAndBound search = new BranchAndBound(problem, known);
        int toPlace = 0;
        for (int i = 0; i < search.n; i++) {
            search.placed[i] = problem.buffers().get(i).bytes() == 0;
            toPlace += search.placed[i] ? 0 : 1;
            for (int c : search.cliquesOf[i]) {
                search.cliqueRest[c] += problem.buffers().get(i).bytes();
            }
        }
        search.descend(toPlace, 0, 0);
        return search.bestOffsets.length == 0 ? Optional.empty() : Optional.of(search.bestOffsets);
    }

    private void descend(int toPlace, long floor, long top) {
        if (toPlace == 0) {
            best = top;
            bestOffsets = offsets.clone();
            return;
        }
        if (++nodes > MOST_NODES || !canImprove(floor)) {
            return;
        }
        long[] lowest = new long[n];
        long earliestEnd = Long.MAX_VALUE;
        for (int i = 0; i < n; i++) {
            if (!placed[i]) {
                lowest[i] = lowestOffset(i);
                earliestEnd = Math.min(earliestEnd, lowest[i] + bytes(i));
            }
        }
        for (int i : candidates(lowest, floor, earliestEnd)) {
            if (best > lowerBound && nodes <= MOST_NODES && lowest[i] + bytes(i) < best) {
                descendWith(i, lowest[i], toPlace, top);
            }
        }
    }

    private void descendWith(int buffer, long offset, int toPlace, long top) {
        int[] cliques = cliquesOf[buffer];
        long[] tops = new long[cliques.length];
        placed[buffer] = true;
        offsets[buffer] = offset;
        long end = offset + bytes(buffer);
        for (int k = 0; k < cliques.length; k++) {
            tops[k] = cliqueTop[cliques[k]];
            cliqueTop[cliques[k]] = end;
            cliqueRest[cliques[k]] -= bytes(buffer);
        }
        descend(toPlace - 1, offset, Math.max(top, end));
        for (int k = 0; k < cliques.length; k++) {
            cliqueTop[cliques[k]] = tops[k];
            cliqueRest[cliques[k]] += bytes(buffer);
        }
        placed[buffer] = false;
    }

    /**
     * Candidates in ascending order of offset, larger ones first. Excluded are those below the floor, which belong
     * earlier in the order, and those above a place where another one would still fit completely, because that one can
     * always go first.
     */
    private int[] candidates(long[] lowest, long floor, long earliestEnd) {
        return IntStream.range(0, n)
                .filter(i -> !placed[i] && lowest[i] >= floor && lowest[i] < earliestEnd)
                .boxed()
                .sorted(Comparator.comparingLong((Integer i) -> lowest[i]).thenComparingLong(i -> -bytes(i)))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private boolean canImprove(long floor) {
        for (int c = 0; c < cliqueRest.length; c++) {
            if (cliqueRest[c] > 0 && Math.max(floor, cliqueTop[c]) + cliqueRest[c] >= best) {
                return false;
            }
        }
        return true;
    }

    private long lowestOffset(int buffer) {
        long lowest = 0;
        for (int other : problem.conflicts(buffer)) {
            if (placed[other]) {
                lowest = Math.max(lowest, offsets[other] + bytes(other));
            }
        }
        return Placement.align(lowest, problem.buffers().get(buffer).alignment());
    }

    private long bytes(int buffer) {
        return problem.buffers().get(buffer).bytes();
    }
}
